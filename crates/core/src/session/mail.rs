//! Messages between conversations. What they are and which conversations exchange them is decided by
//! the crate that starts the [`Mail`]; a registry without messages never starts one.

use std::{
    any::Any,
    fmt,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};

use crate::{ToolContext, ToolOutput};

/// Delivers messages to conversations.
pub trait Mail: Any + fmt::Debug + Send + Sync {
    /// Adds the unread messages of the call's conversation to an answer.
    fn add_unread(&self, output: &mut ToolOutput, cx: &ToolContext);

    /// Releases the mailbox of a conversation that has ended.
    fn forget(&self, session_id: &str);

    /// Refuses further messages, and ends waiting readers.
    fn close(&self);
}

/// The slot for the [`Mail`] of a registry. It is empty until something starts the mail, and checking
/// that costs a call one atomic load.
#[derive(Debug, Default)]
pub struct MailSlot {
    mail: OnceLock<Arc<dyn Mail>>,
    closed: AtomicBool,
}

impl MailSlot {
    /// The mail, if it was started.
    pub fn started(&self) -> Option<&dyn Mail> {
        self.mail.get().map(AsRef::as_ref)
    }

    /// The mail, if it was started and is of this type.
    pub fn started_as<T: Mail>(&self) -> Option<Arc<T>> {
        let any: Arc<dyn Any + Send + Sync> = Arc::<dyn Mail>::clone(self.mail.get()?);
        any.downcast().ok()
    }

    /// The mail. Starts it if there is none; in a closed registry it is closed from the start. Returns
    /// none if the mail is of another type.
    pub fn get_or_start<T: Mail + Default>(&self) -> Option<Arc<T>> {
        let mail = self.mail.get_or_init(|| Arc::new(T::default()));
        // `close` sets the flag before it looks for mail, so one of the two closes it.
        if self.closed.load(Ordering::SeqCst) {
            mail.close();
        }
        self.started_as()
    }

    /// Closes the mail, also if it is started later.
    pub fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
        if let Some(mail) = self.started() {
            mail.close();
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[derive(Debug, Default)]
    struct Letters(AtomicBool);

    impl Mail for Letters {
        fn add_unread(&self, _: &mut ToolOutput, _: &ToolContext) {}

        fn forget(&self, _: &str) {}

        fn close(&self) {
            self.0.store(true, Ordering::SeqCst);
        }
    }

    #[test]
    fn mail_is_closed_with_the_slot_whether_it_was_started_before_or_after() {
        let (before, after) = (MailSlot::default(), MailSlot::default());
        let started_before = before.get_or_start::<Letters>().unwrap();
        assert!(!started_before.0.load(Ordering::SeqCst));
        before.close();
        after.close();
        assert!(after.started().is_none(), "closing starts no mail");
        let started_after = after.get_or_start::<Letters>().unwrap();
        for letters in [started_before, started_after] {
            assert!(letters.0.load(Ordering::SeqCst));
        }
    }
}
