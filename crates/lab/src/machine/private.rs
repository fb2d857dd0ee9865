//! The private variables of a process, read from the `Debug` form of its private state.
//!
//! A private state is any type that implements `Debug`, so this works for algorithms of every crate. For example, the
//! private state `Entry(At(Q3 { place: 2, take: Some(1) }))` is at line `Q3`, with the variables `place = 2` and
//! `take = Some(1)`.

/// Returns the fields of the line, in the order in which they are declared. If a field is itself a line with fields,
/// these fields replace it.
pub(super) fn variables(debug: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    collect(debug.trim(), &mut found);
    found
}

/// Adds the variables of one value: the fields of a struct, or the fields of the values in a tuple.
fn collect(value: &str, found: &mut Vec<(String, String)>) {
    let name_end = value.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(value.len());
    let body = value[name_end..].trim();
    if let Some(fields) = inside(body, '{', '}') {
        for field in split(fields) {
            match field.split_once(": ") {
                Some((name, value)) if is_structure(value) => {
                    let before = found.len();
                    collect(value, found);
                    // A structure without named fields is itself a value.
                    if found.len() == before {
                        found.push((name.to_string(), value.to_string()));
                    }
                }
                Some((name, value)) => found.push((name.to_string(), value.to_string())),
                None => {}
            }
        }
    } else if let Some(parts) = inside(body, '(', ')') {
        split(parts).into_iter().for_each(|part| collect(part, found));
    }
}

/// Returns whether the value is a line with fields inside another line, such as `Read { j: 1 }`.
fn is_structure(value: &str) -> bool {
    value.starts_with(char::is_uppercase) && value.ends_with('}')
}

fn inside(text: &str, open: char, close: char) -> Option<&str> {
    text.strip_prefix(open)?.strip_suffix(close).map(str::trim)
}

/// Splits at the commas that are not inside brackets.
fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut from) = (Vec::new(), 0, 0);
    for (at, char) in text.char_indices() {
        match char {
            '{' | '(' | '[' => depth += 1,
            '}' | ')' | ']' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(text[from..at].trim());
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(text[from..].trim());
    parts.retain(|part| !part.is_empty());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(debug: &str) -> String {
        let pairs: Vec<String> =
            variables(debug).into_iter().map(|(name, value)| format!("{name}={value}")).collect();
        pairs.join(" ")
    }

    #[test]
    fn fields_of_nested_lines_are_the_private_variables() {
        assert_eq!(shown("Remainder"), "");
        assert_eq!(shown("Entry(L5)"), "");
        assert_eq!(shown("Entry(L4 { j: 1, s: {0, 2} })"), "j=1 s={0, 2}");
        assert_eq!(shown("Entry(At(Q3 { place: 2, take: Some(1) }))"), "place=2 take=Some(1)");
        assert_eq!(
            shown("Entry(L7 { s: {1}, scan: Read { j: 0, seen: Before { own: 3, before: {} } } })"),
            "s={1} j=0 own=3 before={}"
        );
        assert_eq!(shown("Exit(Block { lost: 0, stage: 1, line: L7 })"), "lost=0 stage=1 line=L7");
    }
}
