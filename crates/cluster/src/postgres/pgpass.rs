//! The password file of PostgreSQL, `~/.pgpass`.

/// The connection that a line of the file must match.
#[derive(Clone, Copy)]
pub(super) struct Login<'a> {
    pub host: &'a str,
    pub port: u16,
    pub database: &'a str,
    pub user: &'a str,
}

/// Returns the password in the first line that matches.
pub(super) fn find(file: &str, login: Login) -> Option<String> {
    let Login { host, port, database, user } = login;
    // In the file, the host of a socket in a directory is `localhost`.
    let host = if host.starts_with('/') { "localhost" } else { host };
    let wanted = [host, &port.to_string(), database, user];
    file.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
        let parts = split(line);
        let [patterns @ .., password] = &parts[..] else { return None };
        let matches = |(pattern, wanted): (&String, &&str)| pattern == "*" || pattern == wanted;
        let fits = patterns.len() == wanted.len() && patterns.iter().zip(&wanted).all(matches);
        fits.then(|| password.clone())
    })
}

/// Splits a line at its first four colons. A backslash makes the next character an ordinary one.
fn split(line: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        let last = parts.len() - 1;
        match character {
            '\\' => parts[last].extend(characters.next()),
            ':' if last < 4 => parts.push(String::new()),
            other => parts[last].push(other),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_matches_has_the_password() {
        let file = "# comment:*:*:*:no\n\
                    db-1:5432:halls:joe:first\n\
                    *:*:halls:ann\\:b:with\\:colon\n\
                    localhost:5432:*:joe:socket\n\
                    *:*:*:joe:any\nbroken\n";
        let login = |host, port, database, user| find(file, Login { host, port, database, user });
        assert_eq!(login("db-1", 5432, "halls", "joe").as_deref(), Some("first"));
        assert_eq!(login("db-2", 5432, "halls", "joe").as_deref(), Some("any"));
        assert_eq!(login("db-2", 1, "halls", "ann:b").as_deref(), Some("with:colon"));
        assert_eq!(login("/run/postgresql", 5432, "x", "joe").as_deref(), Some("socket"));
        assert_eq!(login("db-1", 5432, "halls", "eve"), None);
    }
}
