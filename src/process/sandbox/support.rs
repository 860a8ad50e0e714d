//! What a machine allows, as the supervisor finds it out when it starts. The host and the supervisor both
//! compile this file, so it uses nothing else but the plan.

use super::plan::SandboxLevel;

/// A step on the way into namespaces. Machines refuse different ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NamespaceStep {
    /// Making a user, a mount and a process namespace.
    Create,
    /// Saying who the user is in the new user namespace.
    Map,
    /// Making the mounts private, and setting what they allow.
    Mounts,
    /// Mounting `/proc` for the new processes.
    Proc,
}

/// Why commands cannot have namespaces of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SandboxTrouble {
    /// The system refused a step with this error number.
    Refused { step: NamespaceStep, error: i32 },
    /// There is no supervisor, which would make them, for this reason.
    NoSupervisor(String),
}

/// Which Landlock the kernel has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LandlockSupport {
    /// This version of its interface.
    Version(u32),
    /// None, with this error number.
    Refused(i32),
}

/// What this machine allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SandboxSupport {
    /// Whether commands can have namespaces of their own.
    pub(crate) namespaces: Result<(), SandboxTrouble>,
    /// Which Landlock there is.
    pub(crate) landlock: LandlockSupport,
    /// True where the number of processes of a command can be limited in namespaces of its own.
    pub(crate) limits_processes: bool,
    /// True where the memory of a whole command can be limited, by a cgroup.
    pub(crate) limits_memory: bool,
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

/// The error numbers that have words of their own; the same on every Linux.
const EPERM: i32 = 1;
const EACCES: i32 = 13;
const EINVAL: i32 = 22;
const ENOSPC: i32 = 28;
const ENOSYS: i32 = 38;
const EOPNOTSUPP: i32 = 95;
const EUSERS: i32 = 87;

impl SandboxLevel {
    /// The name of the level in options and answers.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Landlock => "landlock",
            Self::Namespaces => "namespaces",
        }
    }
}

impl SandboxSupport {
    /// How many bytes [`Self::encode`] makes.
    pub(crate) const ENCODED_BYTES: usize = 12;

    /// What there is without a supervisor.
    pub(crate) fn without_supervisor(reason: String) -> Self {
        Self { namespaces: Err(SandboxTrouble::NoSupervisor(reason)), ..Self::default() }
    }

    /// The best level.
    pub(crate) fn level(&self) -> SandboxLevel {
        match (&self.namespaces, self.landlock) {
            (Ok(()), _) => SandboxLevel::Namespaces,
            (Err(SandboxTrouble::Refused { .. }), LandlockSupport::Version(_)) => {
                SandboxLevel::Landlock
            }
            (Err(_), _) => SandboxLevel::None,
        }
    }

    /// The version of Landlock; zero for none.
    pub(crate) fn landlock_version(&self) -> u32 {
        match self.landlock {
            LandlockSupport::Version(version) => version,
            LandlockSupport::Refused(_) => 0,
        }
    }

    /// Why there is no better level; empty for the best.
    pub(crate) fn why_not_better(&self) -> String {
        match (&self.namespaces, self.landlock) {
            (Ok(()), _) => String::new(),
            (Err(trouble @ SandboxTrouble::NoSupervisor(_)), _)
            | (Err(trouble), LandlockSupport::Version(_)) => trouble.words(),
            (Err(trouble), LandlockSupport::Refused(error)) => {
                format!("{}; {}", trouble.words(), landlock_words(error))
            }
        }
    }

    /// The support as bytes of a message.
    pub(crate) fn encode(&self) -> [u8; Self::ENCODED_BYTES] {
        let (step, error) = match self.namespaces {
            Ok(()) => (0, 0),
            Err(SandboxTrouble::Refused { step, error }) => (step.number(), error),
            Err(SandboxTrouble::NoSupervisor(_)) => (NamespaceStep::Create.number(), ENOSYS),
        };
        let (has_landlock, landlock) = match self.landlock {
            LandlockSupport::Version(version) => (1, version.to_le_bytes()),
            LandlockSupport::Refused(error) => (0, error.to_le_bytes()),
        };
        let ([e0, e1, e2, e3], [l0, l1, l2, l3]) = (error.to_le_bytes(), landlock);
        let (processes, memory) = (self.limits_processes.into(), self.limits_memory.into());
        [step, e0, e1, e2, e3, has_landlock, l0, l1, l2, l3, processes, memory]
    }

    /// Reads the support back; none if these are other bytes.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let [step, e0, e1, e2, e3, has_landlock, l0, l1, l2, l3, processes, memory] =
            *bytes.first_chunk::<{ Self::ENCODED_BYTES }>()?;
        let error = i32::from_le_bytes([e0, e1, e2, e3]);
        let landlock = u32::from_le_bytes([l0, l1, l2, l3]);
        Some(Self {
            namespaces: match NamespaceStep::numbered(step) {
                Some(step) => Err(SandboxTrouble::Refused { step, error }),
                None if step == 0 => Ok(()),
                None => return None,
            },
            landlock: if has_landlock == 1 {
                LandlockSupport::Version(landlock)
            } else {
                LandlockSupport::Refused(landlock.cast_signed())
            },
            limits_processes: processes == 1,
            limits_memory: memory == 1,
        })
    }
}

impl NamespaceStep {
    const fn number(self) -> u8 {
        match self {
            Self::Create => 1,
            Self::Map => 2,
            Self::Mounts => 3,
            Self::Proc => 4,
        }
    }

    const fn numbered(number: u8) -> Option<Self> {
        match number {
            1 => Some(Self::Create),
            2 => Some(Self::Map),
            3 => Some(Self::Mounts),
            4 => Some(Self::Proc),
            _ => None,
        }
    }
}

impl SandboxTrouble {
    /// The trouble in words: what was refused, how, and what usually refuses it.
    pub(crate) fn words(&self) -> String {
        let (step, error) = match self {
            Self::NoSupervisor(reason) => return format!("there is no supervisor: {reason}"),
            Self::Refused { step, error } => (*step, *error),
        };
        let (what, why) = match (step, error) {
            (NamespaceStep::Create, ENOSPC | EUSERS) => (
                "user namespaces are refused",
                "no more are allowed here; see `/proc/sys/user/max_user_namespaces`",
            ),
            (NamespaceStep::Create, EINVAL | ENOSYS) => {
                ("user namespaces are refused", "the kernel was built without them")
            }
            (NamespaceStep::Create, _) => (
                "user namespaces are refused",
                "a seccomp filter does so, as that of most containers, or \
                 `/proc/sys/kernel/unprivileged_userns_clone` is 0",
            ),
            (NamespaceStep::Map, _) => (
                "the ids of a user namespace cannot be set",
                "a security module such as AppArmor refuses it; see \
                 `/proc/sys/kernel/apparmor_restrict_unprivileged_userns`",
            ),
            (NamespaceStep::Mounts, ENOSYS) => (
                "mounts cannot be changed",
                "the kernel is older than 5.12, or a seccomp filter does so",
            ),
            (NamespaceStep::Mounts, _) => (
                "mounts in a user namespace are refused",
                "a security module such as AppArmor does so; see \
                 `/proc/sys/kernel/apparmor_restrict_unprivileged_userns`",
            ),
            (NamespaceStep::Proc, _) => {
                ("a new /proc is refused", "parts of /proc are hidden here, as in most containers")
            }
        };
        format!("{what}: {}; {why}", error_name(error))
    }
}

/// Says why there is no Landlock.
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
    fn support_arrives_as_it_was_sent() {
        for namespaces in [
            Ok(()),
            Err(SandboxTrouble::Refused { step: NamespaceStep::Create, error: ENOSPC }),
            Err(SandboxTrouble::Refused { step: NamespaceStep::Proc, error: EPERM }),
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
        assert_eq!(SandboxSupport::decode(&[9; SandboxSupport::ENCODED_BYTES]), None);
        assert_eq!(SandboxSupport::decode(&[0; 3]), None);
    }

    #[test]
    fn every_refusal_names_its_error_and_what_to_look_at() {
        let words = |step, error| SandboxTrouble::Refused { step, error }.words();
        assert!(
            words(NamespaceStep::Create, EPERM).starts_with("user namespaces are refused: EPERM; ")
        );
        assert!(words(NamespaceStep::Create, ENOSPC).contains("max_user_namespaces"));
        assert!(words(NamespaceStep::Map, EPERM).contains("AppArmor"));
        assert!(words(NamespaceStep::Proc, EPERM).contains("/proc"));
        let none = SandboxSupport::without_supervisor("it is for Linux".to_owned());
        assert_eq!(none.level(), SandboxLevel::None);
        assert_eq!(none.why_not_better(), "there is no supervisor: it is for Linux");
    }
}
