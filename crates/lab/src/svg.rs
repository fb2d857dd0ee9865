//! Makes plots readable on light and on dark pages.

/// Each colour that plots use, and its counterpart on a dark background.
const DARK: [(&str, &str); 20] = [
    // Background, text, secondary text, grid, axes.
    ("FFFFFF", "0D1117"),
    ("000000", "E6EDF3"),
    ("5A5A5A", "9DA7B3"),
    ("E4E4E4", "2D333B"),
    ("787878", "8B949E"),
    ("969696", "8B949E"),
    ("C8C8C8", "484F58"),
    // The colours of Okabe and Ito.
    ("0072B2", "4AA3DF"),
    ("D55E00", "F0803C"),
    ("009E73", "2FBF95"),
    ("CC79A7", "E59AC4"),
    ("56B4E9", "7CC8F5"),
    ("E69F00", "F2B632"),
    // Shades of green. The shade that is darkest on white becomes the brightest on black.
    ("7FCEB9", "1D8A6C"),
    ("8CD6C2", "14795F"),
    ("40B898", "2FA884"),
    ("00926A", "62CDAE"),
    ("005E44", "B0F0DC"),
    // Lines in the background of small multiples.
    ("D2D2D2", "3A414A"),
    ("F4F4F4", "161B22"),
];

/// Returns the SVG with a style that replaces its colours if the reader prefers a dark page.
pub fn follow_colour_scheme(svg: &str) -> String {
    let Some(end) = svg.find('>') else { return svg.to_string() };
    let (head, rest) = svg.split_at(end + 1);
    let mut style = String::from("\n<style>@media (prefers-color-scheme: dark) {");
    for (light, dark) in DARK.iter().filter(|(light, _)| rest.contains(&format!("#{light}"))) {
        style += &format!(
            "\n[fill=\"#{light}\"] {{ fill: #{dark} }} [stroke=\"#{light}\"] {{ stroke: #{dark} }}"
        );
    }
    format!("{head}{style}\n}}</style>{rest}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_that_occur_have_a_dark_counterpart() {
        let svg = "<svg width=\"9\">\n<rect fill=\"#FFFFFF\"/>\n</svg>\n";
        let adapted = follow_colour_scheme(svg);
        assert!(
            adapted.starts_with("<svg width=\"9\">\n<style>@media (prefers-color-scheme: dark) {")
        );
        assert!(adapted.contains("[fill=\"#FFFFFF\"] { fill: #0D1117 }"));
        assert!(!adapted.contains("#E69F00"), "the style must contain only colours that occur");
        assert!(adapted.ends_with("<rect fill=\"#FFFFFF\"/>\n</svg>\n"));
    }
}
