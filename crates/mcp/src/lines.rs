//! Standard input and output: one message a line.
//!
//! The SDK's own transport stays silent at what is no JSON and at lines that are too long; this one answers. It also knows
//! the batches of revision 2025-03-26, whose answers go out together.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, RequestId, ServerJsonRpcMessage};
use rmcp::transport::{StdioReader, StdioWriter, Transport, stdio_pipes};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::sync::Mutex as AsyncMutex;
use tokio::task::JoinSet;

use crate::connection::Connection;
use crate::message::{self, MAX_BYTES, Refusal};

/// Answers of our own that may wait for a client that does not read, before no more is read from it.
const MAX_WAITING: usize = 64;

pub(crate) struct Lines {
    read: BufReader<StdioReader>,
    line: Vec<u8>,
    /// The rest of a line that is too long is being skipped.
    is_skipping: bool,
    write: Arc<AsyncMutex<StdioWriter>>,
    heard: VecDeque<ClientJsonRpcMessage>,
    refusals: JoinSet<()>,
    batches: Arc<Mutex<Vec<Batch>>>,
    connection: Arc<Connection>,
}

/// Requests that came together, and the answers so far.
#[derive(Default)]
struct Batch {
    waiting: Vec<RequestId>,
    answers: Vec<Value>,
}

impl Lines {
    pub(crate) fn new(connection: Arc<Connection>) -> Lines {
        let (read, write) = stdio_pipes();
        Lines {
            read: BufReader::new(read),
            line: Vec::new(),
            is_skipping: false,
            write: Arc::new(AsyncMutex::new(write)),
            heard: VecDeque::new(),
            refusals: JoinSet::new(),
            batches: Arc::default(),
            connection,
        }
    }

    /// Until a line is there; none at the end of the input. May be dropped at any time: what was read is kept.
    async fn next_line(&mut self) -> Option<Result<(), Refusal>> {
        loop {
            let available = self.read.fill_buf().await.ok()?;
            if available.is_empty() {
                return None;
            }
            let end = available.iter().position(|it| *it == b'\n');
            let taken = end.map_or(available.len(), |it| it + 1);
            let is_too_long = self.line.len() + taken > MAX_BYTES + 1;
            if !self.is_skipping && !is_too_long {
                self.line.extend_from_slice(&available[..taken]);
            }
            self.read.consume(taken);
            if is_too_long && !self.is_skipping {
                self.line = Vec::new();
                self.is_skipping = end.is_none();
                return Some(Err(message::too_long()));
            }
            if end.is_some() && !std::mem::take(&mut self.is_skipping) {
                return Some(Ok(()));
            }
        }
    }

    fn understand(&mut self) {
        let line = std::mem::take(&mut self.line);
        if line.iter().all(u8::is_ascii_whitespace) {
            return;
        }
        match message::json(&line) {
            Err(refusal) => self.refuse(refusal),
            Ok(Value::Array(items)) if self.connection.takes_batches() && !items.is_empty() => {
                self.batch(items)
            }
            Ok(value) => match message::message(value) {
                Ok(Some(message)) => self.hear(message),
                Ok(None) => {}
                Err(refusal) => self.refuse(refusal),
            },
        }
    }

    fn hear(&mut self, heard: ClientJsonRpcMessage) {
        if let Some(id) = message::cancelled(&heard) {
            // It will not be answered; the others of its batch do not wait for it.
            let done = take_out(&self.batches, id, None);
            self.write_in_background(done);
        }
        self.heard.push_back(heard);
    }

    fn batch(&mut self, items: Vec<Value>) {
        let mut batch = Batch::default();
        let mut heard = Vec::new();
        for item in items {
            match message::message(item) {
                Ok(Some(it)) => {
                    batch.waiting.extend(message::is_request(&it).cloned());
                    heard.push(it);
                }
                Ok(None) => {}
                Err(refusal) => batch.answers.extend(serde_json::to_value(refusal)),
            }
        }
        if batch.waiting.is_empty() {
            let answers = std::mem::take(&mut batch.answers);
            self.write_in_background((!answers.is_empty()).then_some(Value::Array(answers)));
        } else {
            self.batches.lock().unwrap_or_else(PoisonError::into_inner).push(batch);
        }
        heard.into_iter().for_each(|it| self.hear(it));
    }

    fn refuse(&mut self, refusal: Refusal) {
        self.write_in_background(serde_json::to_value(refusal).ok());
    }

    /// In a task of its own: `receive` may be dropped half way, and a line is written whole or not at all.
    fn write_in_background(&mut self, value: Option<Value>) {
        let Some(value) = value else { return };
        let write = Arc::clone(&self.write);
        self.refusals.spawn(async move {
            // A client that has gone does not hear it.
            let _ = write_line(&write, value.to_string().into_bytes()).await;
        });
    }
}

impl Transport<RoleServer> for Lines {
    type Error = io::Error;

    fn send(
        &mut self,
        item: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        let (write, batches) = (Arc::clone(&self.write), Arc::clone(&self.batches));
        async move {
            let id = match &item {
                ServerJsonRpcMessage::Response(it) => Some(it.id.clone()),
                ServerJsonRpcMessage::Error(it) => it.id.clone(),
                _ => None,
            };
            let is_of_batch = |id: &RequestId| {
                batches
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .iter()
                    .any(|it| it.waiting.contains(id))
            };
            let answers = match id.filter(is_of_batch) {
                None => return write_line(&write, serde_json::to_vec(&item)?).await,
                Some(id) => take_out(&batches, &id, Some(serde_json::to_value(item)?)),
            };
            match answers {
                Some(answers) => write_line(&write, serde_json::to_vec(&answers)?).await,
                None => Ok(()),
            }
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            if let Some(heard) = self.heard.pop_front() {
                return Some(heard);
            }
            while self.refusals.try_join_next().is_some() {}
            if self.refusals.len() > MAX_WAITING {
                self.refusals.join_next().await;
            }
            match self.next_line().await? {
                Ok(()) => self.understand(),
                Err(refusal) => self.refuse(refusal),
            }
        }
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        while self.refusals.join_next().await.is_some() {}
        Ok(())
    }
}

/// Ends the wait of a batch for one request; all its answers when that was the last.
fn take_out(batches: &Mutex<Vec<Batch>>, id: &RequestId, answer: Option<Value>) -> Option<Value> {
    let mut batches = batches.lock().unwrap_or_else(PoisonError::into_inner);
    let at = batches.iter().position(|it| it.waiting.contains(id))?;
    let batch = &mut batches[at];
    batch.waiting.retain(|it| it != id);
    batch.answers.extend(answer);
    if !batch.waiting.is_empty() {
        return None;
    }
    let answers = batches.swap_remove(at).answers;
    (!answers.is_empty()).then_some(Value::Array(answers))
}

async fn write_line(write: &AsyncMutex<StdioWriter>, mut line: Vec<u8>) -> io::Result<()> {
    line.push(b'\n');
    let mut write = write.lock().await;
    write.write_all(&line).await?;
    write.flush().await
}
