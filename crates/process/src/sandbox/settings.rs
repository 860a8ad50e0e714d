//! The sandbox settings of a host, and the level that results from them on this machine.

use std::path::PathBuf;

use toolwright_command_protocol::{ResourceLimits, SandboxLevel, SandboxSupport, SandboxTrouble};

/// Whether commands need a sandbox.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SandboxMode {
    /// Commands have the best sandbox that this machine supports.
    #[default]
    Auto,
    /// Commands only run in a sandbox of at least [`SandboxSettings::least_level`].
    Required,
    /// Commands have no sandbox.
    Off,
}

/// Where commands may write, apart from what the policy forbids.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SandboxWrites {
    /// Everywhere their user may write.
    #[default]
    Anywhere,
    /// Only in the roots, in the directory for temporary files, and in
    /// [`SandboxSettings::writable`].
    Workspace,
}

/// Which hosts commands may reach.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SandboxNetwork {
    /// All hosts.
    #[default]
    Allow,
    /// Only their own processes.
    Deny,
    /// Their own processes and these hosts. Each is in lower case, and exact or `*.example.com`.
    Hosts(Vec<String>),
}

/// The part of the sandbox that applies to programs that no model wrote: hooks and MCP servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SandboxShare {
    /// None.
    Off,
    /// Their own process namespace and the limits. Files and network are not restricted.
    Processes,
    /// The whole sandbox, as for commands.
    Commands,
}

/// Everything about the sandbox that a host can set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SandboxSettings {
    /// Whether a sandbox is required.
    pub mode: SandboxMode,
    /// The least level that [`SandboxMode::Required`] accepts.
    pub least_level: SandboxLevel,
    /// Where commands may write.
    pub writes: SandboxWrites,
    /// More directories that they may write to under [`SandboxWrites::Workspace`]. Absolute paths.
    pub writable: Vec<PathBuf>,
    /// Which hosts they may reach.
    pub network: SandboxNetwork,
    /// The resources that they may use.
    pub limits: ResourceLimits,
    /// The sandbox of hooks that are commands.
    pub hooks: SandboxShare,
    /// The sandbox of MCP servers that are programs.
    pub mcp_servers: SandboxShare,
}

impl SandboxSettings {
    /// The default of [`ResourceLimits::processes`]: more than builds need, and far fewer than a
    /// machine allows.
    pub const PROCESSES: u32 = 2_048;

    /// No sandbox at all.
    pub fn off() -> Self {
        Self { mode: SandboxMode::Off, ..Self::default() }
    }

    /// The level that a command gets on a machine with this support. The error says why it may not
    /// run.
    pub fn level_on(&self, support: &SandboxSupport) -> Result<SandboxLevel, SandboxRefusal> {
        let best = support.level();
        match self.mode {
            SandboxMode::Off => Ok(SandboxLevel::None),
            SandboxMode::Auto => Ok(best),
            SandboxMode::Required if best >= self.least_level => Ok(best),
            SandboxMode::Required => Err(SandboxRefusal {
                wanted: self.least_level,
                cause: support.why_not_better(),
                has_supervisor: !matches!(support.namespaces, Err(SandboxTrouble::NoSupervisor(_))),
            }),
        }
    }
}

impl Default for SandboxSettings {
    fn default() -> Self {
        Self {
            mode: SandboxMode::default(),
            least_level: SandboxLevel::Namespaces,
            writes: SandboxWrites::default(),
            writable: Vec::new(),
            network: SandboxNetwork::default(),
            limits: ResourceLimits {
                processes: Some(Self::PROCESSES),
                ..ResourceLimits::default()
            },
            hooks: SandboxShare::Processes,
            mcp_servers: SandboxShare::Commands,
        }
    }
}

/// Why a command that needs a sandbox did not run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("commands need a sandbox of the level `{}`, and this machine has none: {cause}", wanted.as_str())]
pub struct SandboxRefusal {
    /// The level that was asked for.
    pub(crate) wanted: SandboxLevel,
    /// Why this machine does not support that level.
    pub(crate) cause: String,
    /// False if the supervisor, which would make the sandbox, is missing. The machine itself may
    /// allow one.
    pub(crate) has_supervisor: bool,
}

impl SandboxRefusal {
    /// What the host's developer can do about it. A model can do nothing.
    pub fn next_step(&self) -> &'static str {
        if !self.has_supervisor {
            return "see what `toolwright doctor` says about the supervisor, or accept less: `sandbox: \"auto\"`";
        }
        match self.wanted {
            SandboxLevel::Namespaces => {
                "allow user namespaces on this machine, or accept less: `sandbox: { mode: \"required\", \
                 level: \"landlock\" }`, or `sandbox: \"auto\"`"
            }
            SandboxLevel::None | SandboxLevel::Landlock => {
                "use a machine whose kernel has Landlock or user namespaces, or accept less: `sandbox: \
                 \"auto\"`"
            }
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use toolwright_command_protocol::LandlockSupport;

    use super::*;

    fn support(namespaces: bool, abi: u32) -> SandboxSupport {
        SandboxSupport {
            namespaces: if namespaces { Ok(()) } else { Err(SandboxTrouble::NotMade(1)) },
            landlock: if abi > 0 {
                LandlockSupport::Version(abi)
            } else {
                LandlockSupport::Refused(38)
            },
            ..SandboxSupport::default()
        }
    }

    #[test]
    fn auto_takes_the_best_level_there_is() {
        let auto = SandboxSettings::default();
        assert_eq!(auto.level_on(&support(true, 6)), Ok(SandboxLevel::Namespaces));
        assert_eq!(auto.level_on(&support(false, 1)), Ok(SandboxLevel::Landlock));
        assert_eq!(auto.level_on(&support(false, 0)), Ok(SandboxLevel::None));
        let off = SandboxSettings::off();
        assert_eq!(off.level_on(&support(true, 6)), Ok(SandboxLevel::None));
    }

    #[test]
    fn required_refuses_less_than_was_asked_for_and_says_why() {
        let mut settings =
            SandboxSettings { mode: SandboxMode::Required, ..SandboxSettings::default() };
        let refusal = settings.level_on(&support(false, 6)).unwrap_err();
        let words = refusal.to_string();
        assert!(words.contains("level `namespaces`"), "{words}");
        assert!(words.contains("user namespaces are refused: EPERM"), "{words}");
        assert!(refusal.next_step().contains("level: \"landlock\""));
        settings.least_level = SandboxLevel::Landlock;
        assert_eq!(settings.level_on(&support(false, 6)), Ok(SandboxLevel::Landlock));
        assert_eq!(settings.level_on(&support(true, 0)), Ok(SandboxLevel::Namespaces));
        let words = settings.level_on(&support(false, 0)).unwrap_err().to_string();
        assert!(words.contains("the kernel has no Landlock"), "{words}");
        let none = SandboxSupport::without_supervisor("it ended at once".to_owned());
        let refusal = settings.level_on(&none).unwrap_err();
        assert!(refusal.next_step().contains("toolwright doctor"), "{}", refusal.next_step());
    }
}
