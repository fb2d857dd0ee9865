//! The files of the page. They are plain HTML, CSS and JavaScript, served as they are.

/// A script of the page.
pub struct Script {
    /// The address of the script. An exported page does not use it, because it contains the scripts.
    #[cfg_attr(not(feature = "cli"), expect(dead_code))]
    pub path: &'static str,
    /// The text of the script.
    pub text: &'static str,
}

/// The HTML of the page.
pub const PAGE: &str = include_str!("page/explorer.html");
/// The style of the page.
pub const CSS: &str = include_str!("page/explorer.css");
/// The scripts of the page, in the order in which they run.
pub const SCRIPTS: [Script; 5] = [
    Script { path: "/base.js", text: include_str!("page/base.js") },
    Script { path: "/panels.js", text: include_str!("page/panels.js") },
    Script { path: "/lanes.js", text: include_str!("page/lanes.js") },
    Script { path: "/graph.js", text: include_str!("page/graph.js") },
    Script { path: "/explorer.js", text: include_str!("page/explorer.js") },
];
