//! The mailbox of one session.

use std::{
    collections::VecDeque,
    iter,
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use tokio::sync::Notify;

use super::{TeamMessage, Teams};

/// What may wait in one mailbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MailboxLimits {
    /// How many messages.
    pub messages: usize,
    /// How many bytes of texts.
    pub bytes: usize,
}

/// Messages that were not read yet.
#[derive(Debug, Default)]
pub(super) struct Mailbox {
    content: Mutex<MailboxContent>,
    news: Notify,
}

#[derive(Debug, Default)]
struct MailboxContent {
    waiting: VecDeque<Arc<TeamMessage>>,
    bytes: usize,
    /// How many [`MailReader`]s there are.
    readers: usize,
    closed: bool,
}

impl MailboxContent {
    fn pop(&mut self) -> Option<Arc<TeamMessage>> {
        let message = self.waiting.pop_front()?;
        self.bytes -= message.bytes();
        Some(message)
    }
}

impl Mailbox {
    fn content(&self) -> MutexGuard<'_, MailboxContent> {
        self.content.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn has_room(&self, message: &TeamMessage, limits: MailboxLimits) -> bool {
        let content = self.content();
        content.waiting.len() < limits.messages && content.bytes + message.bytes() <= limits.bytes
    }

    pub(super) fn put(&self, message: Arc<TeamMessage>) {
        let mut content = self.content();
        content.bytes += message.bytes();
        content.waiting.push_back(message);
        drop(content);
        self.news.notify_waiters();
    }

    /// Takes messages from the first on, for as long as they are wanted, unless somebody else reads them. Also
    /// says how many are left.
    pub(super) fn take_unread(
        &self,
        mut is_wanted: impl FnMut(&TeamMessage) -> bool,
    ) -> (Vec<Arc<TeamMessage>>, usize) {
        let mut content = self.content();
        let mut taken = Vec::new();
        if content.readers > 0 {
            return (taken, 0);
        }
        while content.waiting.front().is_some_and(|it| is_wanted(it)) {
            taken.extend(content.pop());
        }
        (taken, content.waiting.len())
    }

    /// Drops what nobody has read.
    pub(super) fn clear(&self) {
        let mut content = self.content();
        content.waiting.clear();
        content.bytes = 0;
    }

    /// Nothing more will come. What waits can still be read.
    pub(super) fn close(&self) {
        self.content().closed = true;
        self.news.notify_waiters();
    }

    /// True when nobody reads it, and nothing is in it.
    pub(super) fn is_unused(&self) -> bool {
        let content = self.content();
        content.readers == 0 && content.waiting.is_empty()
    }

    /// Moves what nobody has read to the mailbox of a successor.
    pub(super) fn hand_over(&self, successor: &Self) {
        let unread: Vec<_> = iter::from_fn(|| self.content().pop()).collect();
        self.close();
        unread.into_iter().for_each(|it| successor.put(it));
    }

    /// Waits for the next message; nothing once the mailbox is closed and empty.
    pub(super) async fn next(&self) -> Option<Arc<TeamMessage>> {
        loop {
            let mut news = pin!(self.news.notified());
            // From here on no news is missed.
            news.as_mut().enable();
            {
                let mut content = self.content();
                if let Some(message) = content.pop() {
                    return Some(message);
                }
                if content.closed {
                    return None;
                }
            }
            news.await;
        }
    }
}

/// Reads the mailbox of a session. While there is a reader, messages are not delivered in another way.
#[derive(Debug)]
pub struct MailReader {
    pub(super) mailbox: Arc<Mailbox>,
    session: String,
    teams: Weak<Teams>,
}

impl MailReader {
    pub(super) fn new(mailbox: Arc<Mailbox>, session: String, teams: Weak<Teams>) -> Self {
        mailbox.content().readers += 1;
        Self { mailbox, session, teams }
    }

    /// Waits for the next message; nothing once no more can come.
    pub async fn next(&self) -> Option<Arc<TeamMessage>> {
        self.mailbox.next().await
    }
}

impl Drop for MailReader {
    fn drop(&mut self) {
        self.mailbox.content().readers -= 1;
        if let Some(teams) = self.teams.upgrade() {
            teams.forget_unused_mailbox(&self.session);
        }
    }
}
