//! The bench's MCP server over standard streams: one message a line, until standard input closes.

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

use super::host::{Host, Reply};
use crate::failure::{Doing, Failure};

pub(super) async fn serve(host: &Host) -> Result<(), Failure> {
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    let mut out = tokio::io::stdout();
    while let Some(line) = lines.next_line().await.doing("reading a message")? {
        match host.reply(line.as_bytes()) {
            Reply::Nothing => {}
            Reply::Answer(mut answer) | Reply::Welcome(mut answer) => {
                answer.push(b'\n');
                out.write_all(&answer).await.doing("writing an answer")?;
                out.flush().await.doing("writing an answer")?;
            }
        }
    }
    Ok(())
}
