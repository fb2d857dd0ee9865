//! The tree of the runs that were played in the explorer, as one HTML file. A browser opens the file without the
//! explorer's server.

use serde_json::{Value, json};

use super::{assets, engine::Engine};

/// Returns the page with the tree of `engine` in it, or with only the run to `node` if the tree is too large. The page
/// opens at `node`.
///
/// # Errors
/// Fails if there is no such node, or if neither the tree nor the run to `node` is small enough for a page.
pub fn export(engine: &mut Engine, node: u32) -> Result<String, String> {
    let data = json!({
        "describe": engine.handle(&json!({ "do": "describe" }))?,
        "nodes": engine.handle(&json!({ "do": "tree", "node": node }))?,
        "node": node,
    });
    Ok(page(&data))
}

fn page(data: &Value) -> String {
    // `</script>` in the data would end the script element.
    let data = data.to_string().replace('<', "\\u003c");
    let style = format!("<style>\n{}</style>", assets::CSS);
    let mut scripts =
        format!("<script type=\"application/json\" id=\"exported\">{data}</script>\n");
    for script in assets::SCRIPTS {
        scripts.push_str(&format!("<script>\n{}</script>\n", script.text));
    }
    let page = assets::PAGE.replace("<link rel=\"stylesheet\" href=\"/explorer.css\">", &style);
    // Remove the links to the scripts, which are each on their own line.
    let mut lines: Vec<&str> = page.lines().filter(|line| !line.starts_with("<script")).collect();
    let end = lines.iter().position(|line| *line == "</body>").unwrap_or(lines.len());
    lines.insert(end, &scripts);
    lines.join("\n") + "\n"
}
