//! The mailbox of one session.

use std::{
    collections::VecDeque,
    iter,
    pin::pin,
    sync::{Arc, Weak},
};

use parking_lot::Mutex;
use tokio::sync::Notify;

use super::{TeamMessage, Teams};

/// How much may wait in one mailbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MailboxLimits {
    /// The number of messages.
    pub messages: usize,
    /// The bytes of text.
    pub bytes: usize,
}

/// Unread messages.
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
    pub(super) fn has_room(&self, message: &TeamMessage, limits: MailboxLimits) -> bool {
        let content = self.content.lock();
        content.waiting.len() < limits.messages && content.bytes + message.bytes() <= limits.bytes
    }

    pub(super) fn put(&self, message: Arc<TeamMessage>) {
        let mut content = self.content.lock();
        content.bytes += message.bytes();
        content.waiting.push_back(message);
        drop(content);
        self.news.notify_waiters();
    }

    /// Takes messages, starting with the oldest, while `is_wanted` returns true. Takes none if there is
    /// a reader. Also returns how many are left.
    pub(super) fn take_unread(
        &self,
        mut is_wanted: impl FnMut(&TeamMessage) -> bool,
    ) -> (Vec<Arc<TeamMessage>>, usize) {
        let mut content = self.content.lock();
        let mut taken = Vec::new();
        if content.readers > 0 {
            return (taken, 0);
        }
        while content.waiting.front().is_some_and(|it| is_wanted(it)) {
            taken.extend(content.pop());
        }
        (taken, content.waiting.len())
    }

    /// Drops the unread messages.
    pub(super) fn clear(&self) {
        let mut content = self.content.lock();
        content.waiting.clear();
        content.bytes = 0;
    }

    /// Closes the mailbox for new messages. Unread ones can still be read.
    pub(super) fn close(&self) {
        self.content.lock().closed = true;
        self.news.notify_waiters();
    }

    /// True when there is no reader and no message.
    pub(super) fn is_unused(&self) -> bool {
        let content = self.content.lock();
        content.readers == 0 && content.waiting.is_empty()
    }

    /// Moves the unread messages to the mailbox of a successor.
    pub(super) fn hand_over(&self, successor: &Self) {
        let unread: Vec<_> = iter::from_fn(|| self.content.lock().pop()).collect();
        self.close();
        for message in unread {
            successor.put(message);
        }
    }

    /// Waits for the next message. Returns none once the mailbox is closed and empty.
    pub(super) async fn next(&self) -> Option<Arc<TeamMessage>> {
        loop {
            let mut news = pin!(self.news.notified());
            // From here on no notification is missed.
            news.as_mut().enable();
            {
                let mut content = self.content.lock();
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

/// Reads the mailbox of a session. While there is a reader, messages are delivered only to it.
#[derive(Debug)]
pub struct MailReader {
    pub(super) mailbox: Arc<Mailbox>,
    session: String,
    teams: Weak<Teams>,
}

impl MailReader {
    pub(super) fn new(mailbox: Arc<Mailbox>, session: String, teams: Weak<Teams>) -> Self {
        mailbox.content.lock().readers += 1;
        Self { mailbox, session, teams }
    }

    /// Waits for the next message. Returns none once no more can arrive.
    pub async fn next(&self) -> Option<Arc<TeamMessage>> {
        self.mailbox.next().await
    }
}

impl Drop for MailReader {
    fn drop(&mut self) {
        self.mailbox.content.lock().readers -= 1;
        if let Some(teams) = self.teams.upgrade() {
            teams.forget_unused_mailbox(&self.session);
        }
    }
}
