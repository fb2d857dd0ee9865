//! The files of the page. They are plain HTML, CSS and JavaScript, served as they are.

/// A script of the page.
pub struct Script {
    /// Its address. An exported page needs none, because it contains the scripts.
    #[cfg_attr(not(feature = "cli"), expect(dead_code))]
    pub path: &'static str,
    /// Its text.
    pub text: &'static str,
}

/// The page.
pub const PAGE: &str = include_str!("page/explorer.html");
/// Its style.
pub const CSS: &str = include_str!("page/explorer.css");
/// Its scripts, in the order in which they run.
pub const SCRIPTS: [Script; 5] = [
    Script { path: "/base.js", text: include_str!("page/base.js") },
    Script { path: "/panels.js", text: include_str!("page/panels.js") },
    Script { path: "/lanes.js", text: include_str!("page/lanes.js") },
    Script { path: "/graph.js", text: include_str!("page/graph.js") },
    Script { path: "/explorer.js", text: include_str!("page/explorer.js") },
];
