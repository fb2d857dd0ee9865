//! `--gpus`: one GPU for each slot. With `--per-device M`, M consecutive slots share a GPU.
//!
//! A tool of the vendor lists the devices: `nvidia-smi` or `rocm-smi`, whichever is on `PATH`. A batch system may
//! restrict the devices by a variable in the environment of hallpass. Then hallpass uses only the devices that the
//! variable names, in the notation of the variable.

use std::{
    env,
    io::ErrorKind,
    process::{Command, Stdio},
};

use super::environment::Mapping;

const OPTION: &str = "--gpus";

/// A tool of a vendor that lists devices, and the variable that selects a device.
struct Vendor {
    tool: &'static str,
    arguments: &'static [&'static str],
    variable: &'static str,
    /// Reads the identifiers of the devices from the output of the tool.
    read: fn(&str) -> Vec<Device>,
}

/// A device: its number, and a name that does not depend on the order of devices.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Device {
    index: String,
    uuid: Option<String>,
}

const VENDORS: [Vendor; 2] = [
    Vendor {
        tool: "nvidia-smi",
        arguments: &["--query-gpu=index,uuid", "--format=csv,noheader"],
        variable: "CUDA_VISIBLE_DEVICES",
        read: read_nvidia,
    },
    Vendor {
        tool: "rocm-smi",
        arguments: &["--showuniqueid", "--csv"],
        variable: "HIP_VISIBLE_DEVICES",
        read: read_rocm,
    },
];

/// Returns the variable that selects a GPU, with a value for each GPU. Fails if there is no GPU, or if one of
/// `others` sets the same variable.
pub fn mapping(others: &[Mapping]) -> Result<Mapping, String> {
    let mut missing = Vec::new();
    for vendor in VENDORS {
        let Some(output) = vendor.list()? else {
            missing.push(vendor.tool);
            continue;
        };
        let devices = (vendor.read)(&output);
        if devices.is_empty() {
            return Err(format!("--gpus: {} lists no device", vendor.tool));
        }
        let variable = vendor.variable;
        if others.iter().any(|other| other.variable() == variable) {
            return Err(format!("--gpus sets {variable}, and so does --env: give one of them"));
        }
        let outer = env::var(variable).ok();
        let devices = visible(variable, &devices, outer.as_deref())?;
        return Ok(Mapping::of_devices(OPTION, variable, devices));
    }
    Err(format!(
        "--gpus: found no GPU: neither {} is on PATH; list devices yourself with --env",
        missing.join(" nor ")
    ))
}

impl Vendor {
    /// Returns the output of the tool, or `None` if the tool is not on `PATH`.
    fn list(&self) -> Result<Option<String>, String> {
        let mut tool = Command::new(self.tool);
        let output = match tool.args(self.arguments).stdin(Stdio::null()).output() {
            Ok(output) => output,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(format!("--gpus: cannot run {}: {error}", self.tool)),
        };
        if output.status.success() {
            return Ok(Some(String::from_utf8_lossy(&output.stdout).into_owned()));
        }
        let message =
            String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        let message =
            message.lines().find(|line| !line.trim().is_empty()).unwrap_or("no message").trim();
        Err(format!("--gpus: {} failed ({}): {message}", self.tool, output.status))
    }
}

/// Reads the output of each tool, and selects the devices that `outer` names, for the fuzz targets.
#[cfg(feature = "fuzzing")]
pub fn fuzz_devices(output: &str, outer: &str) {
    for vendor in VENDORS {
        let devices = (vendor.read)(output);
        for outer in [None, Some(outer)] {
            let is_empty =
                visible(vendor.variable, &devices, outer).is_ok_and(|some| some.is_empty());
            assert!(!is_empty || devices.is_empty());
        }
    }
}

/// Reads lines such as `0, GPU-8932f937-d72c-4106-c12f-20bd9faed9f6`.
fn read_nvidia(output: &str) -> Vec<Device> {
    let device = |line: &str| {
        let (index, uuid) = line.split_once(',')?;
        let (index, uuid) = (index.trim().to_string(), uuid.trim());
        let uuid = uuid.starts_with("GPU-").then(|| uuid.to_string());
        index.parse::<usize>().is_ok().then_some(Device { index, uuid })
    };
    output.lines().filter_map(device).collect()
}

/// Reads lines such as `card0,0x5bf2a5f0e5a1c2d4`. HIP takes only numbers.
fn read_rocm(output: &str) -> Vec<Device> {
    let device = |line: &str| {
        let index = line.split(',').next()?.trim().strip_prefix("card")?.to_string();
        index.parse::<usize>().is_ok().then_some(Device { index, uuid: None })
    };
    output.lines().filter_map(device).collect()
}

/// Returns the identifiers of the devices that may be used. `outer` is the value of `variable` in the environment.
/// If it is set, only its devices may be used. Like CUDA, this function ignores everything after the first identifier
/// that names no device.
fn visible(variable: &str, devices: &[Device], outer: Option<&str>) -> Result<Vec<String>, String> {
    let Some(outer) = outer else {
        let name = |device: &Device| device.uuid.clone().unwrap_or_else(|| device.index.clone());
        return Ok(devices.iter().map(name).collect());
    };
    let mut found: Vec<String> = Vec::new();
    let mut known = Vec::new();
    for word in outer.split(',').map(str::trim) {
        let Some(device) = named(devices, word) else { break };
        if known.contains(&device) {
            return Err(format!("--gpus: {variable}={outer} names device {word} twice"));
        }
        known.push(device);
        found.push(word.into());
    }
    match found.is_empty() {
        true => Err(format!("--gpus: {variable}={outer} names no device of this machine")),
        false => Ok(found),
    }
}

/// Finds the device that `word` names. Returns its index, which is the same for all notations of the device.
fn named<'a>(devices: &'a [Device], word: &'a str) -> Option<&'a str> {
    if word.starts_with("MIG-") {
        // This is a part of a device. The tool does not list parts, so `word` stands for itself.
        return Some(word);
    }
    let has_uuid = |device: &Device| {
        let uuid = device.uuid.as_ref();
        word.len() > "GPU-".len() && uuid.is_some_and(|uuid| uuid.starts_with(word))
    };
    let device = devices.iter().find(|device| device.index == word || has_uuid(device))?;
    Some(&device.index)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NVIDIA: &str = "0, GPU-aaaa-1\n1, GPU-bbbb-2\n2, GPU-cccc-3\n";

    fn chosen(outer: Option<&str>) -> Result<Vec<String>, String> {
        visible("CUDA_VISIBLE_DEVICES", &read_nvidia(NVIDIA), outer)
    }

    #[test]
    fn devices_are_named_by_uuid_unless_the_environment_restricts_them() {
        assert_eq!(chosen(None).expect("three"), ["GPU-aaaa-1", "GPU-bbbb-2", "GPU-cccc-3"]);
        assert_eq!(chosen(Some("2,0")).expect("two"), ["2", "0"]);
        assert_eq!(chosen(Some("GPU-bbbb, 0")).expect("two"), ["GPU-bbbb", "0"]);
        assert_eq!(chosen(Some("MIG-7/1/0")).expect("a part"), ["MIG-7/1/0"]);
        assert_eq!(chosen(Some("1,7,0")).expect("one"), ["1"], "7 ends the list");
        for (outer, why) in [
            ("", "no device"),
            ("-1", "no device"),
            ("9", "no device"),
            ("1,1", "twice"),
            ("1,GPU-bbbb", "twice"),
        ] {
            let error = chosen(Some(outer)).expect_err(outer);
            assert!(error.contains(why) && error.contains("CUDA_VISIBLE_DEVICES="), "{error}");
        }
    }

    #[test]
    fn the_output_of_rocm_smi_is_read() {
        let output = "device,Unique ID\ncard0,0x5bf2\ncard1,0x5bf3\n\n";
        let indices: Vec<_> = read_rocm(output).into_iter().map(|device| device.index).collect();
        assert_eq!(indices, ["0", "1"]);
        assert_eq!(read_rocm("no device\n"), []);
    }
}
