//! The environment variables of the command: its slot, and the values of `--env` for that slot.

use std::num::NonZero;

use hallpass_common::text::counted;

use crate::keeper::lifeline;

/// The name of the hall.
pub const NAME: &str = "HALLPASS_NAME";
const SLOT: &str = "HALLPASS_SLOT";
const SLOTS: &str = "HALLPASS_SLOTS";
/// All slots of a holder, separated by commas.
const SLOTS_HELD: &str = "HALLPASS_SLOTS_HELD";
const DEVICE: &str = "HALLPASS_DEVICE";
/// The fencing token, for halls on a cluster.
pub const TOKEN: &str = "HALLPASS_TOKEN";
/// The reason why the pass was lost, for the command of `--on-loss`.
pub const LOSS: &str = "HALLPASS_LOSS";

/// The variables that hallpass itself sets. `--env` must not set them.
const OWN: [&str; 8] = [NAME, SLOT, SLOTS, SLOTS_HELD, DEVICE, TOKEN, LOSS, lifeline::VARIABLE];

/// `--env VAR=v0,v1,...`: the value of a variable in each slot, or on each device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    variable: String,
    values: Vec<String>,
    /// The option that requests the mapping.
    option: String,
}

impl Mapping {
    /// Returns the mapping for a list of devices, which `option` requests.
    pub fn of_devices(option: &str, variable: &str, devices: Vec<String>) -> Self {
        Mapping { variable: variable.into(), values: devices, option: option.into() }
    }

    /// Returns the name of the variable.
    pub fn variable(&self) -> &str {
        &self.variable
    }

    pub fn parse(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            Some((variable, _)) if OWN.contains(&variable) => {
                Err(format!("hallpass itself sets {variable}: choose another variable"))
            }
            Some((variable, values)) if !variable.is_empty() => Ok(Mapping {
                option: format!("--env {variable}"),
                variable: variable.to_string(),
                values: values.split(',').map(str::to_string).collect(),
            }),
            _ => Err("a variable and its values look like CUDA_VISIBLE_DEVICES=0,1,2,3".into()),
        }
    }
}

/// Returns the variables that every holder has. `held` are its slots, of which there is at least one.
pub fn variables_of_slots(name: &str, held: &[usize], slots: usize) -> Vec<(String, String)> {
    vec![
        (NAME.to_string(), name.to_string()),
        (SLOT.to_string(), held[0].to_string()),
        (SLOTS_HELD.to_string(), joined(held)),
        (SLOTS.to_string(), slots.to_string()),
    ]
}

/// Returns the items, separated by commas.
pub fn joined(items: &[impl ToString]) -> String {
    items.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

/// The variables of each slot. `per_device` consecutive slots share a device.
#[derive(Debug)]
pub struct Environment {
    mappings: Vec<Mapping>,
    per_device: Option<NonZero<usize>>,
}

impl Environment {
    pub fn new(mappings: Vec<Mapping>, per_device: Option<NonZero<usize>>) -> Self {
        Environment { mappings, per_device }
    }

    fn device(&self, slot: usize) -> usize {
        slot / self.per_device.map_or(1, NonZero::get)
    }

    /// Returns the number of slots for which every variable has a value; `None` without `--env` and `--gpus`.
    pub fn slots(&self) -> Option<usize> {
        let values = self.mappings.iter().map(|mapping| mapping.values.len()).min()?;
        Some(values.saturating_mul(self.per_device.map_or(1, NonZero::get)))
    }

    /// Fails unless every variable has a value for each of `slots` slots.
    pub fn check(&self, slots: usize) -> Result<(), String> {
        let devices = slots.div_ceil(self.per_device.map_or(1, NonZero::get));
        match self.mappings.iter().find(|mapping| mapping.values.len() < devices) {
            None => Ok(()),
            Some(Mapping { option, values, .. }) => Err(format!(
                "{option} needs {} for {}, but has {}",
                counted(devices, "value"),
                counted(slots, "slot"),
                values.len()
            )),
        }
    }

    /// Fails unless every variable has a value for each of the slots `held`.
    pub fn check_held(&self, held: &[usize]) -> Result<(), String> {
        self.check(held.iter().max().map_or(0, |last| last + 1))
    }

    /// Returns a message about values of `--env` or `--gpus` that no slot of the hall gets, if there are any.
    pub fn unused_values(&self, slots: usize) -> Option<String> {
        let devices = slots.div_ceil(self.per_device.map_or(1, NonZero::get));
        let mapping = self.mappings.iter().find(|mapping| mapping.values.len() > devices)?;
        let Mapping { option, values, .. } = mapping;
        let (values_given, slots) = (counted(values.len(), "value"), counted(slots, "slot"));
        let unused = values[devices..].join(",");
        Some(format!("{option} has {values_given} for {slots}; no slot gets {unused}"))
    }

    /// Returns the variables for the holder of the slots `held` in the hall `name`, which has `slots` slots. The values
    /// of several slots are separated by commas; slots of one device share a value.
    pub fn variables(
        &self,
        name: &str,
        held: &[usize],
        slots: usize,
    ) -> Result<Vec<(String, String)>, String> {
        // The hall may have grown during the wait.
        self.check_held(held)?;
        let mut devices: Vec<_> = held.iter().map(|slot| self.device(*slot)).collect();
        devices.dedup();
        let mut variables = variables_of_slots(name, held, slots);
        if self.per_device.is_some() {
            variables.push((DEVICE.to_string(), joined(&devices)));
        }
        for Mapping { variable, values, .. } in &self.mappings {
            let values: Vec<_> = devices.iter().map(|device| &values[*device]).collect();
            variables.push((variable.clone(), joined(&values)));
        }
        Ok(variables)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(mappings: &[&str], per_device: usize) -> Environment {
        let mappings = mappings.iter().map(|text| Mapping::parse(text).expect("fine")).collect();
        Environment::new(mappings, NonZero::new(per_device))
    }

    fn value(environment: &Environment, slot: usize, variable: &str) -> Option<String> {
        let variables = environment.variables("gpu", &[slot], 8).expect("it has values");
        variables.into_iter().find(|(name, _)| name == variable).map(|(_, value)| value)
    }

    #[test]
    fn a_slot_has_its_value() {
        let both = environment(&["GPU=a,b,c", "PORT=1,2,3"], 0);
        assert_eq!(both.slots(), Some(3));
        assert_eq!(value(&both, 2, "GPU").as_deref(), Some("c"));
        assert_eq!(value(&both, 0, "PORT").as_deref(), Some("1"));
        assert_eq!(value(&both, 1, "HALLPASS_SLOT").as_deref(), Some("1"));
        assert_eq!(value(&both, 1, "HALLPASS_SLOTS").as_deref(), Some("8"));
        assert_eq!(value(&both, 1, "HALLPASS_NAME").as_deref(), Some("gpu"));
        assert_eq!(value(&both, 1, "HALLPASS_DEVICE"), None);
    }

    #[test]
    fn slots_share_a_device() {
        let shared = environment(&["GPU=a,b"], 3);
        assert_eq!(shared.slots(), Some(6));
        let on: Vec<_> = (0..6).map(|slot| value(&shared, slot, "GPU").expect("set")).collect();
        assert_eq!(on, ["a", "a", "a", "b", "b", "b"]);
        assert_eq!(value(&shared, 4, "HALLPASS_DEVICE").as_deref(), Some("1"));
    }

    #[test]
    fn values_of_several_slots_are_joined() {
        let joined = |environment: &Environment, held: &[usize], name: &str| {
            let variables = environment.variables("gpu", held, 8).expect("it has values");
            variables.into_iter().find(|(variable, _)| variable == name).map(|(_, value)| value)
        };
        let plain = environment(&["GPU=a,b,c"], 0);
        assert_eq!(joined(&plain, &[0, 2], "GPU").as_deref(), Some("a,c"));
        assert_eq!(joined(&plain, &[0, 2], "HALLPASS_SLOTS_HELD").as_deref(), Some("0,2"));
        assert_eq!(joined(&plain, &[0, 2], "HALLPASS_SLOT").as_deref(), Some("0"));
        let shared = environment(&["GPU=a,b"], 2);
        assert_eq!(joined(&shared, &[0, 1, 2], "GPU").as_deref(), Some("a,b"));
        assert_eq!(joined(&shared, &[2, 3], "HALLPASS_DEVICE").as_deref(), Some("1"));
    }

    #[test]
    fn too_few_values_are_refused() {
        let few = environment(&["GPU=a,b,c", "PORT=1,2"], 2);
        assert_eq!(few.slots(), Some(4));
        assert_eq!(few.check(4), Ok(()));
        let error = few.check(5).expect_err("slot 4 has no port");
        assert_eq!(error, "--env PORT needs 3 values for 5 slots, but has 2");
        assert!(few.variables("gpu", &[4], 5).is_err());
        let unused = few.unused_values(3).expect("c has no slot");
        assert_eq!(unused, "--env GPU has 3 values for 3 slots; no slot gets c");
        let unused = few.unused_values(1).expect("b and c have no slot");
        assert_eq!(unused, "--env GPU has 3 values for 1 slot; no slot gets b,c");
        assert_eq!(environment(&["GPU=a,b"], 2).unused_values(3), None);
        assert_eq!(environment(&[], 2).slots(), None);
        assert_eq!(environment(&[], 2).check(1000), Ok(()));
    }

    #[test]
    fn variables_that_hallpass_sets_are_refused() {
        for variable in OWN {
            let error = Mapping::parse(&format!("{variable}=9")).expect_err("refused");
            assert_eq!(error, format!("hallpass itself sets {variable}: choose another variable"));
        }
        assert!(Mapping::parse("HALLPASS_DIR=/a,/b").is_ok());
    }

    #[test]
    fn values_may_contain_an_equals_sign_or_be_empty() {
        let mapping = Mapping::parse("X=a=1,,b").expect("fine");
        assert_eq!(mapping.values, ["a=1", "", "b"]);
        for text in ["", "X", "=a"] {
            assert!(Mapping::parse(text).is_err(), "{text}");
        }
    }
}
