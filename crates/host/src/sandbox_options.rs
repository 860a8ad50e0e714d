//! The option `sandbox`: the limits that the kernel enforces on commands.

use std::{borrow::Cow, fmt, path::PathBuf};

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{
    Deserialize, Deserializer,
    de::{Error as _, MapAccess, Visitor, value::MapAccessDeserializer},
};
use serde_json::{Value, json};
use toolwright_base::{ErrorKind, SHOWN_NAME, ToolError, shortened};
use toolwright_command_protocol::{ResourceLimits, SandboxLevel};
use toolwright_process::{
    SandboxMode, SandboxNetwork, SandboxSettings, SandboxShare, SandboxWrites,
};

const BYTES_PER_MB: u64 = 1024 * 1024;

/// A mode, or an object with all settings.
#[derive(Default)]
pub(super) struct SandboxOption(SandboxDetails);

#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct SandboxDetails {
    mode: ModeOption,
    level: LevelOption,
    write: WriteOption,
    writable: Vec<PathBuf>,
    network: NetworkOption,
    limits: LimitOptions,
    hooks: Option<ShareOption>,
    mcp_servers: Option<ShareOption>,
}

#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ModeOption {
    #[default]
    Auto,
    Required,
    Off,
}

#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum LevelOption {
    Landlock,
    #[default]
    Namespaces,
}

#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum WriteOption {
    #[default]
    Anywhere,
    Workspace,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ShareOption {
    Off,
    Processes,
    Commands,
}

/// All hosts, no hosts, or a list of hosts.
#[derive(Default)]
struct NetworkOption(SandboxNetwork);

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct NetworkHosts {
    #[schemars(length(max = 1_000))]
    hosts: Vec<String>,
}

#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct LimitOptions {
    #[schemars(range(min = 1, max = 31_536_000))]
    cpu_seconds: Option<u32>,
    #[schemars(range(min = 16, max = 1_048_576))]
    memory_mb: Option<u32>,
    #[schemars(range(min = 16, max = 1_000_000))]
    processes: Option<u32>,
    #[schemars(range(min = 1, max = 1_048_576))]
    file_size_mb: Option<u32>,
}

impl SandboxOption {
    /// The settings of a registry with this option.
    pub(super) fn settings(self) -> Result<SandboxSettings, ToolError> {
        let SandboxDetails { mode, level, write, writable, network, limits, hooks, mcp_servers } =
            self.0;
        if let Some(relative) = writable.iter().find(|it| it.is_relative()) {
            return Err(invalid(format!(
                "option `sandbox.writable`: `{}` is not an absolute path; give the full path of the directory",
                relative.display()
            )));
        }
        let writes = match write {
            WriteOption::Anywhere if writable.is_empty() => SandboxWrites::Anywhere,
            WriteOption::Anywhere => {
                return Err(invalid(
                    "option `sandbox.writable`: commands may write anywhere already; set \
                     `sandbox.write` to `workspace`, or leave `writable` out"
                        .to_owned(),
                ));
            }
            WriteOption::Workspace => SandboxWrites::Workspace,
        };
        let defaults = SandboxSettings::default();
        Ok(SandboxSettings {
            mode: match mode {
                ModeOption::Auto => SandboxMode::Auto,
                ModeOption::Required => SandboxMode::Required,
                ModeOption::Off => SandboxMode::Off,
            },
            least_level: match level {
                LevelOption::Landlock => SandboxLevel::Landlock,
                LevelOption::Namespaces => SandboxLevel::Namespaces,
            },
            writes,
            writable,
            network: checked_network(network.0)?,
            limits: limits.over(defaults.limits),
            hooks: hooks.map_or(defaults.hooks, SandboxShare::from),
            mcp_servers: mcp_servers.map_or(defaults.mcp_servers, SandboxShare::from),
        })
    }
}

impl LimitOptions {
    fn over(self, defaults: ResourceLimits) -> ResourceLimits {
        let bytes = |megabytes: u32| u64::from(megabytes) * BYTES_PER_MB;
        ResourceLimits {
            cpu_seconds: self.cpu_seconds.or(defaults.cpu_seconds),
            memory_bytes: self.memory_mb.map(bytes).or(defaults.memory_bytes),
            processes: self.processes.or(defaults.processes),
            file_bytes: self.file_size_mb.map(bytes).or(defaults.file_bytes),
        }
    }
}

impl From<ShareOption> for SandboxShare {
    fn from(option: ShareOption) -> Self {
        match option {
            ShareOption::Off => Self::Off,
            ShareOption::Processes => Self::Processes,
            ShareOption::Commands => Self::Commands,
        }
    }
}

/// Checks the hosts and converts them to lower case. `*` is refused; use `allow` instead.
fn checked_network(network: SandboxNetwork) -> Result<SandboxNetwork, ToolError> {
    let SandboxNetwork::Hosts(hosts) = network else { return Ok(network) };
    let checked = hosts.into_iter().map(|host| {
        let text = host.trim().to_ascii_lowercase();
        let name = text.strip_prefix("*.").unwrap_or(&text);
        let is_name = !name.is_empty()
            && !name.starts_with('.')
            && name.bytes().all(|it| it.is_ascii_alphanumeric() || b".-_:[]".contains(&it))
            && !has_port(name);
        if is_name {
            return Ok(text);
        }
        let shown = shortened(&host, SHOWN_NAME);
        Err(invalid(format!(
            "option `sandbox.network.hosts`: `{shown}` is not a host; write `example.com`, or \
             `*.example.com` for all hosts below it, without a scheme and a port"
        )))
    });
    Ok(SandboxNetwork::Hosts(checked.collect::<Result<_, _>>()?))
}

/// True for `host:80`. An IPv6 address has brackets or several colons.
fn has_port(name: &str) -> bool {
    !name.starts_with('[') && name.matches(':').count() == 1
}

fn invalid(message: String) -> ToolError {
    ToolError::new(ErrorKind::InvalidOptions, message)
}

/// Deserializes a word or an object.
struct WordOr<Details, Word> {
    expected: &'static str,
    word: fn(&str) -> Option<Word>,
    details: std::marker::PhantomData<Details>,
}

enum WordOrDetails<Details, Word> {
    Word(Word),
    Details(Details),
}

impl<'de, Details: Deserialize<'de>, Word> Visitor<'de> for WordOr<Details, Word> {
    type Value = WordOrDetails<Details, Word>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expected)
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Self::Value, E> {
        let unknown = || {
            let shown = shortened(text, SHOWN_NAME);
            E::custom(format!("expected {}, got `{shown}`", self.expected))
        };
        (self.word)(text).map(WordOrDetails::Word).ok_or_else(unknown)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        Details::deserialize(MapAccessDeserializer::new(map)).map(WordOrDetails::Details)
    }
}

impl<'de> Deserialize<'de> for SandboxOption {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read = deserializer.deserialize_any(WordOr::<SandboxDetails, ModeOption> {
            expected: "`auto`, `required`, `off` or an object",
            word: |text| ModeOption::deserialize(Value::from(text)).ok(),
            details: std::marker::PhantomData,
        });
        // Errors of the schema check name the option, but those of this deserializer do not.
        let read = read.map_err(|err| D::Error::custom(format!("option `sandbox`: {err}")))?;
        Ok(Self(match read {
            WordOrDetails::Word(mode) => SandboxDetails { mode, ..SandboxDetails::default() },
            WordOrDetails::Details(details) => details,
        }))
    }
}

impl<'de> Deserialize<'de> for NetworkOption {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read = deserializer.deserialize_any(WordOr::<NetworkHosts, SandboxNetwork> {
            expected: "`network` to be `allow`, `deny` or `{ hosts }`",
            word: |text| match text {
                "allow" => Some(SandboxNetwork::Allow),
                "deny" => Some(SandboxNetwork::Deny),
                _ => None,
            },
            details: std::marker::PhantomData,
        })?;
        Ok(Self(match read {
            WordOrDetails::Word(network) => network,
            WordOrDetails::Details(NetworkHosts { hosts }) => SandboxNetwork::Hosts(hosts),
        }))
    }
}

impl JsonSchema for SandboxOption {
    fn schema_name() -> Cow<'static, str> {
        "SandboxOption".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        or_text(SandboxDetails::json_schema(generator))
    }
}

impl JsonSchema for NetworkOption {
    fn schema_name() -> Cow<'static, str> {
        "NetworkOption".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        or_text(NetworkHosts::json_schema(generator))
    }
}

/// The schema of an object or a string. Its rules about properties apply to objects only. Unlike `anyOf`, this
/// lets errors name the invalid property.
fn or_text(mut schema: Schema) -> Schema {
    schema.insert("type".to_owned(), json!(["string", "object"]));
    schema
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::validated;

    #[derive(Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Options {
        #[serde(default)]
        sandbox: SandboxOption,
    }

    fn settings(json: &Value) -> Result<SandboxSettings, String> {
        let json = json!({ "sandbox": json }).to_string();
        validated::<Options>(&json, "option", ErrorKind::InvalidOptions)
            .and_then(|it| it.sandbox.settings())
            .map_err(|it| it.message)
    }

    #[test]
    fn a_word_sets_the_mode_and_keeps_the_other_defaults() {
        assert_eq!(settings(&json!("auto")).unwrap(), SandboxSettings::default());
        assert_eq!(settings(&json!({})).unwrap(), SandboxSettings::default());
        let required =
            SandboxSettings { mode: SandboxMode::Required, ..SandboxSettings::default() };
        assert_eq!(settings(&json!("required")).unwrap(), required);
        assert_eq!(settings(&json!("off")).unwrap(), SandboxSettings::off());
    }

    #[test]
    fn an_object_can_set_everything() {
        let all = settings(&json!({
            "mode": "required",
            "level": "landlock",
            "write": "workspace",
            "writable": ["/var/cache"],
            "network": { "hosts": ["Docs.rs", "*.example.com"] },
            "limits": { "cpuSeconds": 60, "memoryMb": 512, "processes": 100, "fileSizeMb": 10 },
            "hooks": "off",
            "mcpServers": "processes",
        }));
        let wanted = SandboxSettings {
            mode: SandboxMode::Required,
            least_level: SandboxLevel::Landlock,
            writes: SandboxWrites::Workspace,
            writable: vec![PathBuf::from("/var/cache")],
            network: SandboxNetwork::Hosts(vec!["docs.rs".to_owned(), "*.example.com".to_owned()]),
            limits: ResourceLimits {
                cpu_seconds: Some(60),
                memory_bytes: Some(512 * 1024 * 1024),
                processes: Some(100),
                file_bytes: Some(10 * 1024 * 1024),
            },
            hooks: SandboxShare::Off,
            mcp_servers: SandboxShare::Processes,
        };
        assert_eq!(all.unwrap(), wanted);
        let limits = settings(&json!({ "limits": { "memoryMb": 64 } })).unwrap().limits;
        assert_eq!(limits.processes, Some(SandboxSettings::PROCESSES));
        assert_eq!(settings(&json!({ "network": "deny" })).unwrap().network, SandboxNetwork::Deny);
    }

    #[test]
    fn an_invalid_value_is_refused_with_its_name_and_the_expected_form() {
        for (given, cause) in [
            (
                json!("yes"),
                "option `sandbox`: expected `auto`, `required`, `off` or an object, got `yes`",
            ),
            (json!(true), "option `sandbox`: expected"),
            (json!({ "mode": "on" }), "option `sandbox.mode`"),
            (json!({ "level": "none" }), "option `sandbox.level`"),
            (json!({ "levels": "none" }), "unknown option `levels`"),
            (json!({ "write": "nowhere" }), "option `sandbox.write`"),
            (
                json!({ "write": "workspace", "writable": ["cache"] }),
                "`cache` is not an absolute path",
            ),
            (json!({ "writable": ["/cache"] }), "set `sandbox.write` to `workspace`"),
            (
                json!({ "network": "open" }),
                "expected `network` to be `allow`, `deny` or `{ hosts }`, got `open`",
            ),
            (json!({ "network": 1 }), "option `sandbox.network`: expected"),
            (json!({ "network": { "host": [] } }), "unknown option `host`"),
            (
                json!({ "network": { "hosts": ["https://docs.rs/"] } }),
                "`https://docs.rs/` is not a host; write",
            ),
            (json!({ "network": { "hosts": ["*"] } }), "`*` is not a host"),
            (json!({ "network": { "hosts": ["docs.rs:443"] } }), "without a scheme and a port"),
            (json!({ "limits": { "cpuSeconds": 0 } }), "option `sandbox.limits.cpuSeconds`"),
            (json!({ "limits": { "memoryMb": 1.5 } }), "option `sandbox.limits.memoryMb`"),
            (json!({ "limits": { "processes": 1 } }), "option `sandbox.limits.processes`"),
            (json!({ "limits": { "files": 1 } }), "unknown option `files`"),
            (json!({ "hooks": "all" }), "option `sandbox.hooks`"),
            (json!({ "mcpServers": true }), "option `sandbox.mcpServers`"),
        ] {
            let refused = settings(&given).unwrap_err();
            assert!(refused.contains(cause), "{given}: {refused}");
        }
    }
}
