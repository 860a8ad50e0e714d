//! The environment of commands: the host's environment, without variables that look like secrets.

use std::{
    collections::BTreeMap,
    env,
    ffi::{OsStr, OsString},
    path::{Component, Path, PathBuf},
};

use super::shell_variables::{USUAL_PATH, changes_the_shell, fixed_places, with_fixed_places};

/// The host's environment at the time when the registry was created.
#[derive(Clone, Debug)]
pub struct Environment {
    variables: Vec<(OsString, OsString)>,
    temporary: PathBuf,
}

/// A host's settings for the environment of commands.
#[derive(Clone, Debug, Default)]
pub struct EnvironmentRules {
    /// Names that are kept although they look like secrets.
    pub allowed: Vec<String>,
    /// Variables that are set, whatever they look like.
    pub set: BTreeMap<String, String>,
}

impl Environment {
    /// The environment of this process.
    pub fn of_process() -> Self {
        Self { variables: env::vars_os().collect(), temporary: env::temp_dir() }
    }

    /// An environment that the host passes. In Bun and in workers `process.env` differs from the
    /// environment of the process, and reading that while JavaScript changes it would not be safe.
    pub fn of_host(variables: BTreeMap<String, String>) -> Self {
        let temporary = variables.get("TMPDIR").map_or_else(env::temp_dir, PathBuf::from);
        let variables = variables.into_iter().map(|(name, value)| (name.into(), value.into()));
        Self { variables: variables.collect(), temporary }
    }

    /// The value of a variable.
    pub(super) fn variable(&self, name: &str) -> Option<&OsStr> {
        self.variables.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_os_str())
    }

    /// The value of a variable, if it is valid Unicode.
    pub fn text_of(&self, name: &str) -> Option<String> {
        self.variable(name)?.to_str().map(str::to_owned)
    }

    /// The directory for temporary files.
    pub fn temporary_directory(&self) -> &Path {
        &self.temporary
    }

    /// Finds a program like a shell does, but never in a directory that depends on the current
    /// directory.
    pub fn find_program(&self, name: &str) -> Option<PathBuf> {
        let usual = OsStr::new(USUAL_PATH);
        fixed_places(self.variable("PATH").unwrap_or(usual))
            .chain(fixed_places(usual))
            .map(|folder| folder.join(name))
            .find(|program| is_executable(program))
    }

    /// The default shell for commands: bash, or the system's shell if there is no bash.
    pub fn shell(&self) -> PathBuf {
        self.find_program("bash").unwrap_or_else(|| self.system_shell())
    }

    /// The shell that a host asks for. A relative path is refused: it would name a different program in
    /// every working directory, and a project could provide its own.
    pub fn shell_named(&self, asked: &Path) -> Result<PathBuf, String> {
        if asked.is_absolute() {
            return Ok(asked.to_owned());
        }
        let shown = asked.display();
        let mut parts = asked.components();
        match (parts.next(), parts.next(), asked.to_str()) {
            (Some(Component::Normal(_)), None, Some(name)) => self
                .find_program(name)
                .ok_or_else(|| format!("the shell `{shown}` is not in any directory of PATH")),
            _ => Err(format!(
                "the shell `{shown}` is a relative path; give an absolute one, or a name to look up in PATH"
            )),
        }
    }

    /// The system's shell, which runs the host's hooks.
    pub fn system_shell(&self) -> PathBuf {
        self.find_program("sh").unwrap_or_else(|| PathBuf::from("/bin/sh"))
    }

    /// The variables for shell hooks, which are the host's own commands. They include secrets, but no
    /// variables that change how a shell runs a command line.
    pub fn for_hooks(&self) -> Vec<(OsString, OsString)> {
        with_fixed_places(
            self.variables
                .iter()
                .filter(|(name, _)| !changes_the_shell(&name.to_string_lossy()))
                .cloned()
                .collect(),
        )
    }

    /// The variables for commands: no secrets, and none that change how a shell runs a command line.
    /// Variables that the host sets in its rules are always included, but a `PATH` among them is
    /// cleaned like any other.
    pub fn for_commands(&self, rules: &EnvironmentRules) -> Vec<(OsString, OsString)> {
        let is_set = |name: &OsStr| name.to_str().is_some_and(|it| rules.set.contains_key(it));
        let is_kept = |name: &OsStr, value: &OsStr| {
            rules.allowed.iter().any(|it| name == it.as_str())
                || !(has_secret_name(&name.to_string_lossy())
                    || has_password(&value.to_string_lossy()))
        };
        let kept = self.variables.iter().filter(|(name, value)| {
            !is_set(name) && !changes_the_shell(&name.to_string_lossy()) && is_kept(name, value)
        });
        let set = rules.set.iter().map(|(name, value)| (name.into(), value.into()));
        with_fixed_places(kept.cloned().chain(set).collect())
    }
}

#[cfg(unix)]
fn is_executable(program: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    program.metadata().is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(program: &Path) -> bool {
    program.is_file()
}

/// A name counts as secret if one of its words is in this list.
const SECRET_WORDS: [&str; 22] = [
    "KEYS",
    "TOKEN",
    "TOKENS",
    "SECRET",
    "SECRETS",
    "PASSWORD",
    "PASSWORDS",
    "PASSWD",
    "PASSPHRASE",
    "PASSCODE",
    "PWD",
    "CREDENTIAL",
    "CREDENTIALS",
    "CREDS",
    "AUTH",
    "COOKIE",
    "JWT",
    "PAT",
    "DSN",
    "BEARER",
    "WEBHOOK",
    "SIGNATURE",
];
/// A name counts as secret if one of its words has one of these endings. Many names are written without
/// separators, such as `OPENAIKEY`.
const SECRET_ENDINGS: [&str; 3] = ["KEY", "PASS", "PW"];
/// Ordinary words with such an ending.
const HARMLESS_ENDINGS: [&str; 11] = [
    "MONKEY",
    "TURKEY",
    "DONKEY",
    "HOTKEY",
    "HOCKEY",
    "COMPASS",
    "BYPASS",
    "OVERPASS",
    "UNDERPASS",
    "ASKPASS",
    "LESSKEY",
];
/// A name counts as secret if it contains one of these anywhere.
const SECRET_PARTS: [&str; 6] =
    ["PASSWORD", "PASSWD", "SECRET", "TOKEN", "CREDENTIAL", "CONNECTION_STRING"];
/// A name counts as secret if it begins with one of these.
const SECRET_PREFIXES: [&str; 2] = ["AWS_", "AZURE_"];
/// Names that look secret but are not: paths, and settings that tools need.
const HARMLESS: [&str; 7] = [
    "PWD",
    "OLDPWD",
    "SSH_AUTH_SOCK",
    "AWS_REGION",
    "AWS_DEFAULT_REGION",
    "AWS_PROFILE",
    "AWS_PAGER",
];

/// True for names that secrets are usually stored under.
fn has_secret_name(name: &str) -> bool {
    let words = words_of(name);
    let name = name.to_ascii_uppercase();
    !HARMLESS.contains(&name.as_str())
        && (SECRET_PREFIXES.iter().any(|it| name.starts_with(it))
            || SECRET_PARTS.iter().any(|it| name.contains(it))
            || words.iter().any(|word| is_secret_word(word)))
}

/// The words of a name, in upper case and without trailing digits.
fn words_of(name: &str) -> Vec<String> {
    let mut spaced = String::with_capacity(name.len() + 8);
    let mut characters = name.chars().peekable();
    let mut previous = '_';
    while let Some(it) = characters.next() {
        // `accessKey`, `APIKey`
        let begins = it.is_ascii_uppercase()
            && (previous.is_ascii_lowercase()
                || characters.peek().is_some_and(char::is_ascii_lowercase));
        if begins {
            spaced.push('_');
        }
        spaced.push(it.to_ascii_uppercase());
        previous = it;
    }
    let words = spaced.split(['_', '-', '.']);
    words.map(|word| word.trim_end_matches(|it: char| it.is_ascii_digit()).to_owned()).collect()
}

fn is_secret_word(word: &str) -> bool {
    let ends_with_one = |endings: &[&str]| endings.iter().any(|it| word.ends_with(it));
    SECRET_WORDS.contains(&word)
        || (ends_with_one(&SECRET_ENDINGS) && !ends_with_one(&HARMLESS_ENDINGS))
}

/// A user name in a URL that is at least this long counts as a token, because some services accept a
/// token as user name.
const TOKEN_LENGTH: usize = 20;

/// True for values that contain a private key or a URL with a password.
fn has_password(value: &str) -> bool {
    let is_private_key = value.contains("-----BEGIN") && value.contains("PRIVATE KEY");
    is_private_key
        || value.split("://").skip(1).any(|rest| {
            let authority = rest.split(['/', '?', '#', ',', ' ']).next().unwrap_or_default();
            authority.rsplit_once('@').is_some_and(|(user, _)| match user.split_once(':') {
                Some((_, password)) => !password.is_empty(),
                None => user.len() >= TOKEN_LENGTH,
            })
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secret_names_are_distinguished_from_similar_names() {
        for name in [
            "OPENAI_API_KEY",
            "GITHUB_TOKEN",
            "npm_config_token",
            "AWS_SECRET_ACCESS_KEY",
            "AWS_ACCESS_KEY_ID",
            "PGPASSWORD",
            "MYSQL_PWD",
            "client_secret",
            "GH_PAT",
            "SENTRY_DSN",
            "GOOGLE_APPLICATION_CREDENTIALS",
            "SLACK_WEBHOOK",
            "AZURE_CLIENT_ID",
            "DJANGO_SECRETKEY",
            "AuthToken",
            "NPM_AUTH",
            "STRIPE_APIKEY",
            "SESSION_COOKIE",
            "SSHPASS",
            "api_key2",
            "DB_PASS1",
            "accessKeyId",
            "APIKey",
            "ENCRYPTIONKEY",
            "OPENAIKEY",
            "PRIVKEY",
            "LDAP_BINDPW",
            "MYSQL_ROOT_PW",
            "PASSCODE",
            "SSH_PRIVATEKEY",
        ] {
            assert!(has_secret_name(name), "{name}");
        }
        for name in [
            "PATH",
            "PWD",
            "OLDPWD",
            "HOME",
            "LANG",
            "TERM",
            "SSH_AUTH_SOCK",
            "KEYBOARD",
            "AUTHOR",
            "GIT_AUTHOR_NAME",
            "XDG_SESSION_ID",
            "AWS_REGION",
            "COMPASS",
            "MONKEY_PATCH_OFF",
            "PATTERN",
            "KEYBOARD_LAYOUT",
            "XKB_DEFAULT_LAYOUT",
            "KEYMAP",
            "ENABLE_BYPASS",
            "GREP_COLORS",
            "javaHome",
            "LS_COLORS",
            "TURKEY",
            "PASSIVE_FTP",
            "GIT_ASKPASS",
            "LESSKEY",
        ] {
            assert!(!has_secret_name(name), "{name}");
        }
    }

    #[test]
    fn a_url_with_a_password_is_a_secret_under_any_name() {
        for value in [
            "postgres://me:pw@db/x",
            "http://u:p@proxy:8080",
            "redis://:pw@host",
            "https://ghp_0123456789abcdefghij@github.com/a",
            "http://a,http://u:p@b",
            "-----BEGIN OPENSSH PRIVATE KEY-----\nx",
        ] {
            assert!(has_password(value), "{value}");
        }
        for value in [
            "http://proxy:8080",
            "git@github.com:a/b",
            "https://x/?q=a:b@c",
            "ssh://git@host",
            "http://a,http://b",
            "-----BEGIN PUBLIC KEY-----",
        ] {
            assert!(!has_password(value), "{value}");
        }
    }

    #[test]
    fn commands_get_variables_that_are_not_secret_allowed_or_set() {
        let variable = |name: &str, value: &str| (OsString::from(name), OsString::from(value));
        let environment = Environment {
            variables: vec![
                variable("HOME", "/root"),
                variable("MY_TOKEN", "t"),
                variable("OTHER_TOKEN", "o"),
                variable("LANG", "C"),
            ],
            temporary: PathBuf::from("/tmp"),
        };
        let rules = EnvironmentRules {
            allowed: vec!["MY_TOKEN".to_owned()],
            set: BTreeMap::from([("LANG".to_owned(), "en".to_owned())]),
        };
        assert_eq!(
            environment.for_commands(&rules),
            [
                variable("HOME", "/root"),
                variable("MY_TOKEN", "t"),
                variable("LANG", "en"),
                variable("PATH", USUAL_PATH),
            ]
        );
    }
}
