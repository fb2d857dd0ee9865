//! Tests the explorer's page in a real browser: chromium, driven by Debian's chromium-driver.
//!
//! The environment variable `HALLPASS_LAB` is the path of the program `hallpass-lab`. If `HALLPASS_SCREENSHOTS` is set,
//! it names a folder, and the tests save screenshots there.

use std::{
    env, fs,
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use fantoccini::{Client, ClientBuilder, Locator};
use serde_json::{Value, json};

/// A driver process. It is killed when this value is dropped.
struct Driver {
    child: Child,
    port: u16,
}

impl Driver {
    /// Starts a driver on a free port.
    fn start() -> Driver {
        let child = Command::new("chromedriver").arg("--port=0").stdout(Stdio::piped()).spawn();
        let mut child = child.expect("chromedriver is installed: Debian has it in chromium-driver");
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let port = lines
            .by_ref()
            .map_while(Result::ok)
            .find_map(|line| line.strip_suffix('.')?.rsplit_once("on port ")?.1.parse().ok());
        // The pipe stays open, so that the driver can go on writing.
        std::thread::spawn(move || lines.for_each(drop));
        Driver { child, port: port.expect("the driver prints its port") }
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A process that runs `hallpass-lab explore`. It is killed when this value is dropped.
struct Explorer {
    child: Child,
    url: String,
}

impl Explorer {
    fn start(arguments: &[&str]) -> Explorer {
        let program =
            env::var_os("HALLPASS_LAB").expect("HALLPASS_LAB is the program hallpass-lab");
        let mut command = Command::new(program);
        command.arg("explore").args(arguments).stdout(Stdio::piped());
        let mut child = command.spawn().expect("HALLPASS_LAB runs");
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
        Explorer { child, url: url.trim().to_string() }
    }
}

impl Drop for Explorer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A page in the browser.
struct Page(Client);

impl Page {
    async fn open(driver: &Driver, url: &str, width: u32, dark: bool) -> Page {
        let mut arguments = vec![
            json!("--headless=new"),
            json!("--no-sandbox"),
            json!("--disable-gpu"),
            json!("--disable-dev-shm-usage"),
            json!(format!("--window-size={width},1300")),
        ];
        if dark {
            arguments.push(json!("--blink-settings=preferredColorScheme=0"));
        }
        let capabilities = json!({
            "goog:chromeOptions": { "args": arguments },
            "goog:loggingPrefs": { "browser": "ALL" },
        });
        let Value::Object(capabilities) = capabilities else { unreachable!() };
        let client = ClientBuilder::new(hyper_util_connector())
            .capabilities(capabilities)
            .connect(&format!("http://127.0.0.1:{}", driver.port))
            .await
            .expect("the browser starts");
        client.goto(url).await.unwrap();
        Page(client)
    }

    async fn find(&self, css: &str) -> fantoccini::elements::Element {
        let wait = self.0.wait().at_most(Duration::from_secs(60));
        wait.for_element(Locator::Css(css)).await.unwrap_or_else(|error| panic!("{css}: {error}"))
    }

    async fn click(&self, css: &str) {
        self.find(css).await;
        // The page may redraw the element between finding and clicking it.
        let script =
            "const e = document.querySelector(arguments[0]); e.scrollIntoView(); e.click();";
        self.0.execute(script, vec![json!(css)]).await.unwrap();
    }

    async fn value(&self, expression: &str) -> Value {
        self.0.execute(&format!("return {expression};"), vec![]).await.unwrap()
    }

    /// Waits until a JavaScript expression is true.
    async fn until(&self, expression: &str) {
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(60) {
            if self.value(&format!("Boolean({expression})")).await == true {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        let message = self.value("document.getElementById('message').textContent").await;
        panic!("never true: {expression}; the page says: {message}");
    }

    /// Clicks the button for the next step of a process, and waits for the page.
    async fn step(&self, process: usize) {
        let before = self.value("HP.view().steps").await.as_u64().unwrap();
        self.click(&format!(".go[data-p='{process}']")).await;
        self.until(&format!("HP.view().steps === {}", before + 1)).await;
    }

    async fn screenshot(&self, name: &str) {
        let Some(folder) = env::var_os("HALLPASS_SCREENSHOTS") else { return };
        let image = self.0.screenshot().await.unwrap();
        fs::write(std::path::Path::new(&folder).join(name), image).unwrap();
    }

    /// Checks that the page shows no error and no script failed, and closes the page.
    async fn close(self) {
        let message = self.value("document.getElementById('message').textContent").await;
        assert_eq!(message, "", "the page shows an error");
        let errors = self.value("window.HP_ERRORS || []").await;
        assert_eq!(errors, json!([]), "console errors");
        self.0.close().await.unwrap();
    }
}

fn hyper_util_connector() -> hyper_util::client::legacy::connect::HttpConnector {
    hyper_util::client::legacy::connect::HttpConnector::new()
}

fn run(test: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(test);
}

#[test]
fn a_violation_is_played_undone_branched_asked_for_linked_and_exported() {
    let (driver, server) =
        (Driver::start(), Explorer::start(&["am-fig3:no-take", "-n", "3", "-k", "2"]));
    run(async {
        let page = Page::open(&driver, &server.url, 1600, false).await;
        page.until("HP.view() && HP.view().goals").await;
        // Clicks the steps of the shortest violation: all three processes find a slot free and enter.
        for process in [0, 0, 1, 1, 2, 2] {
            page.step(process).await;
        }
        page.until("document.querySelector('#judgement .bad')").await;
        page.until("document.querySelector('#challenge .solved')").await;
        page.screenshot("violation.png").await;
        let link = page.0.current_url().await.unwrap().to_string();
        assert!(link.contains("#hp1.am-fig3:no-take.3.2.sc."), "{link}");
        // Undoes a step and continues differently.
        page.click("#undo").await;
        page.until("HP.view().steps === 5 && HP.view().facts[0].status === 'holds'").await;
        page.step(0).await;
        page.until("document.querySelectorAll('#tree circle').length === 8").await;
        page.until("document.querySelector('[data-branch]')").await;
        page.click("[data-branch]").await;
        page.until("HP.view().steps === 6 && HP.view().facts[0].status === 'broken'").await;
        // Asks for the shortest way from the start, with keys.
        page.find("body").await.send_keys("\u{e011}").await.unwrap();
        page.until("HP.view().parent === null").await;
        page.find("body").await.send_keys("w").await.unwrap();
        page.until("HP.view().steps === 6 && HP.view().facts[0].status === 'broken'").await;
        page.close().await;

        // The link reproduces the run.
        let page = Page::open(&driver, &link, 520, true).await;
        page.until("HP.view() && HP.view().steps === 6 && HP.view().facts[0].status === 'broken'")
            .await;
        page.screenshot("narrow-dark.png").await;
        let exported = page.0.execute_async(
                "const done = arguments[0]; HP.call({ do: 'export', node: HP.current }).then((a) => done(a.page));",
                vec![],
            );
        let file = tempfile::Builder::new().suffix(".html").tempfile().unwrap();
        fs::write(file.path(), exported.await.unwrap().as_str().unwrap()).unwrap();
        page.close().await;

        // The exported file opens without the server.
        let url = format!("file://{}", file.path().display());
        let page = Page::open(&driver, &url, 1600, false).await;
        page.until("HP.view().facts[0].status === 'broken'").await;
        page.click("#undo").await;
        page.until("HP.view().steps === 5 && document.querySelector('[data-branch]')").await;
        page.screenshot("exported.png").await;
        page.close().await;
    });
}

#[test]
fn the_page_fits_narrow_and_wide_windows_in_light_and_dark() {
    let (driver, server) =
        (Driver::start(), Explorer::start(&["am-fig3:no-second-look", "-n", "3", "-k", "2"]));
    run(async {
        for (width, dark) in [(1300, false), (1300, true), (1000, false), (500, true)] {
            let page = Page::open(&driver, &server.url, width, dark).await;
            page.until("HP.view() && HP.view().goals").await;
            page.click("[data-goal='starve-2']").await;
            page.click("#way").await;
            page.until("HP.view().loop && HP.view().loop.violates").await;
            // Neither the page nor, in a wide window, the table of the run is cut.
            let root = "document.documentElement";
            page.until(&format!("{root}.scrollWidth <= {root}.clientWidth")).await;
            if width >= 1300 {
                let lanes = "document.getElementById('lanes')";
                page.until(&format!("{lanes}.scrollWidth <= {lanes}.clientWidth")).await;
            }
            let colours = if dark { "dark" } else { "light" };
            page.screenshot(&format!("starvation-{width}-{colours}.png")).await;
            page.close().await;
        }
    });
}

#[test]
fn a_run_is_played_with_the_keyboard_alone() {
    let (driver, server) = (Driver::start(), Explorer::start(&["am-fig3", "-n", "2", "-k", "1"]));
    run(async {
        let page = Page::open(&driver, &server.url, 1300, false).await;
        page.until("HP.view() && HP.view().goals").await;
        // The focused button keeps the focus when the page draws itself again.
        page.0
            .execute("document.querySelector('.go[data-p=\"1\"]').focus()", vec![])
            .await
            .unwrap();
        for steps in 1..=3 {
            let active = page.0.active_element().await.unwrap();
            active.send_keys("\u{e007}").await.unwrap();
            page.until(&format!("HP.view().steps === {steps}")).await;
            page.until("document.activeElement.dataset.p === '1'").await;
        }
        page.until("/^Step 3, process 1: /.test(document.getElementById('announce').textContent)")
            .await;
        // Goes up and down in the run.
        page.0.execute("document.getElementById('lanes').focus()", vec![]).await.unwrap();
        let lanes = page.0.active_element().await.unwrap();
        lanes.send_keys("\u{e013}").await.unwrap();
        page.until("HP.view().steps === 2").await;
        lanes.send_keys("\u{e015}").await.unwrap();
        page.until("HP.view().steps === 3").await;
        let unnamed = "[...document.querySelectorAll('button, select, input')].filter((e) => !(e.textContent.trim() \
                       || e.getAttribute('aria-label') || e.title || e.closest('label'))).length";
        assert_eq!(page.value(unnamed).await, 0, "every control has a name");
        page.close().await;
    });
}

#[test]
fn a_loop_is_found_by_the_checker_and_played() {
    let (driver, server) =
        (Driver::start(), Explorer::start(&["am-fig3:no-second-look", "-n", "3", "-k", "2"]));
    run(async {
        let page = Page::open(&driver, &server.url, 1600, true).await;
        page.until("HP.view() && HP.view().goals").await;
        page.click("[data-goal='starve-2']").await;
        page.click("#way").await;
        page.until("HP.view().loop && HP.view().loop.violates").await;
        page.until("document.querySelector('.lanes tr.loop')").await;
        // The page alone says why process 2 starves.
        let reasons = page.value("document.getElementById('reasons').textContent").await;
        let reasons = reasons.as_str().unwrap();
        for part in ["until Q.2 \u{2260} 2", "need not start again", "process 2 can wait forever"] {
            assert!(reasons.contains(part), "{part}: {reasons}");
        }
        page.click("#draw").await;
        page.until("document.querySelector('#canvas')").await;
        page.screenshot("loop-dark.png").await;
        page.click("#loop").await;
        page.until(
            "/^round ([2-9]|[1-9][0-9])/.test(document.getElementById('where').textContent)",
        )
        .await;
        page.click("#start").await;
        page.until("HP.view().parent === null").await;
        // The adversary chooses one step; a stopped process changes the answers.
        page.click("#adversary").await;
        page.until("HP.view().steps === 1").await;
        page.click("[data-stop]").await;
        page.until("HP.view().processes.some((p) => p.stopped) && HP.view().goals").await;
        // Chooses another model from the list.
        page.click("#models").await;
        page.click("[data-challenge='am-fig3:no-take']").await;
        page.until("HP.model.algorithm === 'am-fig3:no-take' && HP.view() && HP.view().goals")
            .await;
        page.close().await;
    });
}
