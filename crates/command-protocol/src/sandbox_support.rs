//! The sandbox features of a machine, as the supervisor detects them when it starts and
//! reports them to the host.

use serde::{Deserialize, Serialize};

use crate::{sandbox_plan::SandboxLevel, wire};

/// Why commands cannot run in their own namespaces.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub enum SandboxTrouble {
    /// The system refused to make namespaces, with this error number.
    NotMade(i32),
    /// Namespaces were made, but something that is needed in them was refused.
    Refused(String),
    /// There is no supervisor to make them, for this reason.
    NoSupervisor(String),
}

/// Which Landlock the kernel has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub enum LandlockSupport {
    /// The version of its ABI.
    Version(u32),
    /// No Landlock, with this error number.
    Refused(i32),
}

/// The sandbox features of this machine.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct SandboxSupport {
    /// Whether commands can run in their own namespaces.
    pub namespaces: Result<(), SandboxTrouble>,
    /// The Landlock of the kernel.
    pub landlock: LandlockSupport,
    /// True if the number of processes of a command can be limited, at the best level that is
    /// available.
    pub limits_processes: bool,
    /// True if the memory of a whole command can be limited, by a cgroup.
    pub limits_memory: bool,
}

impl Default for SandboxSupport {
    fn default() -> Self {
        Self {
            namespaces: Err(SandboxTrouble::NoSupervisor("it was not started".to_owned())),
            landlock: LandlockSupport::Refused(ENOSYS),
            limits_processes: false,
            limits_memory: false,
        }
    }
}

/// The error numbers that have their own message. They are the same on every Linux.
const EPERM: i32 = 1;
const EACCES: i32 = 13;
const EINVAL: i32 = 22;
const ENOSPC: i32 = 28;
const ENOSYS: i32 = 38;
const EOPNOTSUPP: i32 = 95;
const EUSERS: i32 = 87;

impl SandboxLevel {
    /// The name of the level in options and results.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Landlock => "landlock",
            Self::Namespaces => "namespaces",
        }
    }
}

impl SandboxSupport {
    /// The longest result of [`Self::encode`], in bytes.
    pub const MAX_BYTES: usize = 512;

    /// The support on a machine without a supervisor.
    pub fn without_supervisor(reason: String) -> Self {
        Self { namespaces: Err(SandboxTrouble::NoSupervisor(reason)), ..Self::default() }
    }

    /// The best level that this machine supports.
    pub fn level(&self) -> SandboxLevel {
        match (&self.namespaces, self.landlock) {
            (Ok(()), _) => SandboxLevel::Namespaces,
            (Err(SandboxTrouble::NoSupervisor(_)), _) | (Err(_), LandlockSupport::Refused(_)) => {
                SandboxLevel::None
            }
            (Err(_), LandlockSupport::Version(_)) => SandboxLevel::Landlock,
        }
    }

    /// The ABI version of Landlock, or zero if there is none.
    pub fn landlock_version(&self) -> u32 {
        match self.landlock {
            LandlockSupport::Version(version) => version,
            LandlockSupport::Refused(_) => 0,
        }
    }

    /// Why there is no better level. Empty for the best one.
    pub fn why_not_better(&self) -> String {
        match (&self.namespaces, self.landlock) {
            (Ok(()), _) => String::new(),
            (Err(trouble @ SandboxTrouble::NoSupervisor(_)), _)
            | (Err(trouble), LandlockSupport::Version(_)) => trouble.words(),
            (Err(trouble), LandlockSupport::Refused(error)) => {
                format!("{}; {}", trouble.words(), landlock_words(error))
            }
        }
    }

    /// Encodes the support for a message of at most [`Self::MAX_BYTES`].
    pub fn encode(&self) -> Vec<u8> {
        let bytes = wire::encode(self);
        if bytes.len() <= Self::MAX_BYTES {
            return bytes;
        }
        let long = SandboxTrouble::Refused("its reason is too long to be reported".to_owned());
        wire::encode(&Self { namespaces: Err(long), ..self.clone() })
    }

    /// Decodes the support. `None` if the bytes are not exactly one.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        wire::decode(bytes)
    }
}

impl SandboxTrouble {
    /// The message for this trouble: what was refused, the error, and what usually refuses it.
    pub(crate) fn words(&self) -> String {
        let error = match self {
            Self::NoSupervisor(reason) => return format!("there is no supervisor: {reason}"),
            Self::Refused(cause) => {
                return format!(
                    "user namespaces cannot be used here: {cause}; containers that hide parts of `/proc`, and \
                     security modules such as AppArmor (see \
                     `/proc/sys/kernel/apparmor_restrict_unprivileged_userns`), refuse that"
                );
            }
            Self::NotMade(error) => *error,
        };
        let why = match error {
            ENOSPC | EUSERS => "no more are allowed; see `/proc/sys/user/max_user_namespaces`",
            EINVAL | ENOSYS => "the kernel was built without them, or a seccomp filter hides them",
            _ => {
                "a seccomp filter refuses them, as that of most containers does, or \
                 `/proc/sys/kernel/unprivileged_userns_clone` is 0"
            }
        };
        format!("user namespaces are refused: {}; {why}", error_name(error))
    }
}

/// The message that explains why there is no Landlock.
fn landlock_words(error: i32) -> String {
    match error {
        ENOSYS => "the kernel has no Landlock".to_owned(),
        EOPNOTSUPP => {
            "Landlock is switched off; add `landlock` to `lsm=` of the kernel's command line"
                .to_owned()
        }
        _ => format!("Landlock is refused: {}", error_name(error)),
    }
}

fn error_name(error: i32) -> String {
    match error {
        EPERM => "EPERM".to_owned(),
        EACCES => "EACCES".to_owned(),
        EINVAL => "EINVAL".to_owned(),
        ENOSPC => "ENOSPC".to_owned(),
        ENOSYS => "ENOSYS".to_owned(),
        EUSERS => "EUSERS".to_owned(),
        _ => format!("error {error}"),
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn support_survives_encoding() {
        for namespaces in [
            Ok(()),
            Err(SandboxTrouble::NotMade(ENOSPC)),
            Err(SandboxTrouble::Refused("`/proc` cannot be mounted".to_owned())),
        ] {
            for landlock in [LandlockSupport::Version(7), LandlockSupport::Refused(EOPNOTSUPP)] {
                let support = SandboxSupport {
                    namespaces: namespaces.clone(),
                    landlock,
                    limits_processes: true,
                    limits_memory: false,
                };
                assert_eq!(SandboxSupport::decode(&support.encode()).unwrap(), support);
            }
        }
        let long = SandboxTrouble::Refused("x".repeat(SandboxSupport::MAX_BYTES));
        let support = SandboxSupport { namespaces: Err(long), ..SandboxSupport::default() };
        assert!(support.encode().len() <= SandboxSupport::MAX_BYTES);
        assert_eq!(SandboxSupport::decode(&[9; 12]), None);
        assert_eq!(SandboxSupport::decode(&[0; 3]), None);
    }

    #[test]
    fn every_refusal_names_its_error_and_what_to_look_at() {
        let words = |error| SandboxTrouble::NotMade(error).words();
        assert!(words(EPERM).starts_with("user namespaces are refused: EPERM; a seccomp filter"));
        assert!(words(ENOSPC).contains("max_user_namespaces"));
        let refused = SandboxTrouble::Refused("`/proc` cannot be mounted: no".to_owned());
        assert!(refused.words().contains("`/proc` cannot be mounted: no; containers"));
        let none = SandboxSupport::without_supervisor("it is for Linux".to_owned());
        assert_eq!(none.level(), SandboxLevel::None);
        assert_eq!(none.why_not_better(), "there is no supervisor: it is for Linux");
        let neither = SandboxSupport {
            namespaces: Err(SandboxTrouble::NotMade(EPERM)),
            landlock: LandlockSupport::Refused(EOPNOTSUPP),
            ..SandboxSupport::default()
        };
        assert!(neither.why_not_better().contains("; Landlock is switched off"));
    }
}
