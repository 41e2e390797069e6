//! One client on standard input and output. Nothing but messages goes to standard output.

use std::{io, time::Duration};

use bytes::Bytes;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use toolgate_mcp::Wire;

/// Serves until the input ends; calls under way then have `grace` to finish.
pub async fn serve(
    wire: &Wire,
    token: Option<String>,
    input: impl AsyncRead + Unpin,
    mut output: impl AsyncWrite + Unpin + Send + 'static,
    line_bytes: usize,
    grace: Duration,
) -> io::Result<()> {
    let (mut session, mut lines) = wire.stdio(token);
    let writer = tokio::spawn(async move {
        while let Some(line) = lines.recv().await {
            output.write_all(&line).await?;
            output.flush().await?;
        }
        Ok::<(), io::Error>(())
    });
    let mut input = BufReader::new(input);
    let mut line = Vec::new();
    while read_line(&mut input, &mut line, line_bytes).await? {
        session.feed(Bytes::from(std::mem::take(&mut line))).await;
    }
    session.finish(grace).await;
    writer.await.map_err(io::Error::other)?
}

/// Reads up to a line feed. A line past the limit is kept just long enough over it to be refused as too large.
async fn read_line(input: &mut (impl AsyncBufReadExt + Unpin), line: &mut Vec<u8>, most: usize) -> io::Result<bool> {
    loop {
        let available = input.fill_buf().await?;
        if available.is_empty() {
            return Ok(!line.is_empty());
        }
        let end = available.iter().position(|byte| *byte == b'\n');
        let taken = end.map_or(available.len(), |at| at + 1);
        let room = (most + 1).saturating_sub(line.len());
        let text = end.unwrap_or(available.len());
        line.extend_from_slice(available.get(..text.min(room)).unwrap_or_default());
        input.consume(taken);
        if end.is_some() {
            return Ok(true);
        }
    }
}
