//! The capabilities of a command. An ordinary user keeps none; root keeps those with which packages are
//! installed and users changed, and none with which the sandbox could be left.

use rustix::{
    io::Errno,
    thread::{
        CapabilitySet, CapabilitySets, clear_ambient_capability_set,
        remove_capability_from_bounding_set, set_capabilities, set_no_new_privs,
    },
};

use super::SandboxError;

/// What root keeps.
const KEPT_BY_ROOT: CapabilitySet = CapabilitySet::CHOWN
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::FSETID)
    .union(CapabilitySet::KILL)
    .union(CapabilitySet::SETGID)
    .union(CapabilitySet::SETUID)
    .union(CapabilitySet::SETPCAP)
    .union(CapabilitySet::NET_BIND_SERVICE)
    .union(CapabilitySet::SYS_CHROOT)
    .union(CapabilitySet::SETFCAP);

/// The capabilities that a command has at most.
#[derive(Clone, Copy)]
pub(crate) struct KeptCapabilities(CapabilitySet);

impl KeptCapabilities {
    /// Those of a command of root, or of somebody else.
    pub(crate) const fn of(is_root: bool) -> Self {
        Self(if is_root { KEPT_BY_ROOT } else { CapabilitySet::empty() })
    }

    /// Bounds what a program that is run later can have. Until then this process keeps all it has.
    pub(crate) fn bound(self) -> Result<(), SandboxError> {
        for number in 0..u64::BITS {
            let capability = CapabilitySet::from_bits_retain(1 << number);
            if self.0.contains(capability) {
                continue;
            }
            match remove_capability_from_bounding_set(capability) {
                Ok(()) => {}
                // The kernel knows no higher one.
                Err(Errno::INVAL) => break,
                Err(cause) => {
                    return Err(SandboxError::refused("capabilities cannot be bounded", cause));
                }
            }
        }
        Ok(())
    }

    /// Gives up all others, for good: no program that is run gives them back. Takes no memory and no lock.
    pub(crate) fn keep_alone(self) -> Result<(), Errno> {
        let kept = self.0;
        let none = CapabilitySet::empty();
        clear_ambient_capability_set()?;
        set_capabilities(
            None,
            CapabilitySets { effective: kept, permitted: kept, inheritable: none },
        )?;
        set_no_new_privs(true)
    }
}
