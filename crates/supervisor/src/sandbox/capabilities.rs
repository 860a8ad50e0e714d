//! The capabilities of a command. An ordinary user keeps none. Root keeps those that package
//! managers need and none that allows it to leave the sandbox.

use rustix::{
    io::Errno,
    thread::{
        CapabilitySet, CapabilitySets, clear_ambient_capability_set,
        remove_capability_from_bounding_set, set_capabilities, set_no_new_privs,
    },
};

use super::SandboxError;

/// The capabilities that root keeps.
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
    /// The capabilities for root, or for an ordinary user.
    pub(crate) const fn of(is_root: bool) -> Self {
        Self(if is_root { KEPT_BY_ROOT } else { CapabilitySet::empty() })
    }

    /// Limits the capabilities of programs that are executed later. This process keeps its own
    /// until then.
    pub(crate) fn bound(self) -> Result<(), SandboxError> {
        for number in 0..u64::BITS {
            let capability = CapabilitySet::from_bits_retain(1 << number);
            if self.0.contains(capability) {
                continue;
            }
            match remove_capability_from_bounding_set(capability) {
                Ok(()) => {}
                // The kernel has no capability with this or a higher number.
                Err(Errno::INVAL) => break,
                Err(cause) => {
                    return Err(SandboxError::refused("capabilities cannot be bounded", cause));
                }
            }
        }
        Ok(())
    }

    /// Drops all other capabilities for good: executing a program does not give them back.
    /// Allocates no memory and takes no lock.
    pub(crate) fn drop_others(self) -> Result<(), Errno> {
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
