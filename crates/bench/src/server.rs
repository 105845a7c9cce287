//! What the server for agents costs: its first reply, what it adds to an operation, many clients at once, memory at rest.
//!
//! It runs the executable as agents do. Times are on the clock, so the load of the machine is printed with them.

use std::io::{BufRead, BufReader, Read as _, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use knowing_ops::{Cx, Environment, Silent, StalePolicy, TreeChoice, run_tool};
use serde_json::{Value, json};

pub(crate) struct Asked {
    /// The executable.
    pub(crate) program: PathBuf,
    /// The repository to ask about; indexed first when it is not.
    pub(crate) repo: PathBuf,
    pub(crate) query: String,
    pub(crate) clients: usize,
    /// Requests of each client, and runs of the rest.
    pub(crate) runs: usize,
}

pub(crate) fn report(asked: &Asked) -> Result<()> {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    println!("load {} on {cores} cores", load.split(' ').take(3).collect::<Vec<_>>().join(" "));
    first_reply(asked)?;
    added_by_stdio(asked)?;
    clients_at_once(asked)
}

fn first_reply(asked: &Asked) -> Result<()> {
    let mut times = Vec::new();
    for _ in 0..asked.runs {
        let began = Instant::now();
        let mut pipe = Pipe::start(asked)?;
        let hello = pipe.ask(&initialize())?;
        times.push(ms(began));
        ensure!(hello["result"]["serverInfo"]["name"] == "knowing", "{hello}");
        pipe.end()?;
    }
    println!("first reply after the start of the process: {}", spread(&mut times));
    Ok(())
}

fn added_by_stdio(asked: &Asked) -> Result<()> {
    let mut pipe = Pipe::start(asked)?;
    pipe.ask(&initialize())?;
    let call = call(&asked.query);
    let asks = |pipe: &mut Pipe| -> Result<f64> {
        let began = Instant::now();
        let answer = pipe.ask(&call)?;
        ensure!(answer["result"]["isError"] == false, "{answer}");
        Ok(ms(began))
    };
    // The first may index.
    asks(&mut pipe)?;
    let (mut over_pipe, mut inside) = (Vec::new(), Vec::new());
    // In turn, so that the load of the machine is the same for both.
    for _ in 0..asked.runs {
        over_pipe.push(asks(&mut pipe)?);
        let began = Instant::now();
        operation(asked)?;
        inside.push(ms(began));
    }
    println!("`graph_query {}` by itself: {}", asked.query, spread(&mut inside));
    println!("`graph_query {}` over stdio: {}", asked.query, spread(&mut over_pipe));
    println!("added by stdio, medians: {:.2} ms", median(&over_pipe) - median(&inside));
    println!("memory of the process after that: {} kB", resident(pipe.child.id()));
    pipe.end()
}

fn clients_at_once(asked: &Asked) -> Result<()> {
    let mut command = Command::new(&asked.program);
    command.args(["serve", "--port", "0"]).current_dir(&asked.repo).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    let mut line = String::new();
    BufReader::new(child.stderr.take().context("it has a standard error")?).read_line(&mut line)?;
    let port: u16 =
        line.split("127.0.0.1:").nth(1).and_then(|it| it.split('/').next()).context("no port")?.parse()?;
    println!("memory of the HTTP server at rest: {} kB", resident(child.id()));
    let began = Instant::now();
    let outcomes: Vec<Result<Vec<(f64, u16)>>> = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..asked.clients).map(|_| scope.spawn(|| client(asked, port))).collect();
        clients.into_iter().map(|it| it.join().expect("a client does not panic")).collect()
    });
    let seconds = began.elapsed().as_secs_f64();
    let mut times = Vec::new();
    let (mut answered, mut refused) = (0_usize, 0_usize);
    for (time, status) in outcomes.into_iter().collect::<Result<Vec<_>>>()?.into_iter().flatten() {
        match status {
            200 => {
                answered += 1;
                times.push(time);
            }
            _ => refused += 1,
        }
    }
    println!(
        "{} clients over HTTP: {answered} answers, {refused} told to come again, {:.0} answers/s; {}",
        asked.clients,
        answered as f64 / seconds,
        spread(&mut times)
    );
    println!("memory of the HTTP server after that: {} kB", resident(child.id()));
    child.kill()?;
    child.wait()?;
    Ok(())
}

/// One connection that is kept, as clients do.
fn client(asked: &Asked, port: u16) -> Result<Vec<(f64, u16)>> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_nodelay(true)?;
    let mut body = call(&asked.query);
    body["params"]["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let body = body.to_string();
    let request = format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\n\
         Mcp-Name: graph_query\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut outcomes = Vec::new();
    for _ in 0..asked.runs {
        let began = Instant::now();
        stream.write_all(request.as_bytes())?;
        let status = answer(&mut stream)?;
        outcomes.push((ms(began), status));
    }
    Ok(outcomes)
}

/// Reads one answer to its end.
fn answer(stream: &mut TcpStream) -> Result<u16> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 64 << 10];
    loop {
        if let Some(end) = bytes.windows(4).position(|it| it == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..end]).to_ascii_lowercase();
            let status = head.split(' ').nth(1).context("no status")?.parse()?;
            let length =
                head.lines().find_map(|it| it.strip_prefix("content-length: ")?.trim().parse::<usize>().ok());
            let length = length.context("an answer in one piece has a length")?;
            if bytes.len() >= end + 4 + length {
                return Ok(status);
            }
        }
        let n_read = stream.read(&mut buffer)?;
        ensure!(n_read > 0, "the server closed the connection");
        bytes.extend_from_slice(&buffer[..n_read]);
    }
}

struct Pipe {
    child: Child,
    output: BufReader<std::process::ChildStdout>,
}

impl Pipe {
    fn start(asked: &Asked) -> Result<Pipe> {
        let mut command = Command::new(&asked.program);
        command.arg("mcp").current_dir(&asked.repo).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child =
            command.spawn().with_context(|| format!("cannot start {}", asked.program.display()))?;
        let output = BufReader::new(child.stdout.take().context("it has a standard output")?);
        Ok(Pipe { child, output })
    }

    fn ask(&mut self, message: &Value) -> Result<Value> {
        let input = self.child.stdin.as_mut().context("it has a standard input")?;
        writeln!(input, "{message}")?;
        input.flush()?;
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        Ok(serde_json::from_str(&line)?)
    }

    fn end(mut self) -> Result<()> {
        drop(self.child.stdin.take());
        ensure!(self.child.wait()?.success(), "it ends when its input ends");
        Ok(())
    }
}

fn operation(asked: &Asked) -> Result<()> {
    let mut environment = Environment::of_process(None)?;
    environment.working_directory = std::fs::canonicalize(&asked.repo)?;
    let mut cx = Cx {
        environment,
        repo: None,
        tree: TreeChoice::default(),
        stale: StalePolicy::default(),
        session: None,
        paging: knowing_ops::Paging::default(),
        progress: &Silent,
        output: &mut std::io::sink(),
    };
    let Value::Object(arguments) = call(&asked.query)["params"]["arguments"].clone() else {
        unreachable!("it is one")
    };
    run_tool("graph_query", arguments, &mut cx)?;
    Ok(())
}

fn initialize() -> Value {
    let client = json!({"name": "bench", "version": "0"});
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
}

fn call(query: &str) -> Value {
    let params = json!({"name": "graph_query", "arguments": {"query": query, "limit": 20}});
    json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params})
}

fn ms(began: Instant) -> f64 {
    began.elapsed().as_secs_f64() * 1e3
}

fn median(times: &[f64]) -> f64 {
    let mut times = times.to_vec();
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or_default()
}

fn spread(times: &mut [f64]) -> String {
    times.sort_by(f64::total_cmp);
    let at =
        |share: f64| times.get(((times.len() as f64 - 1.0) * share) as usize).copied().unwrap_or_default();
    format!(
        "median {:.1} ms, p95 {:.1} ms, least {:.1} ms, most {:.1} ms",
        at(0.5),
        at(0.95),
        at(0.0),
        at(1.0)
    )
}

/// Of a process, where the system tells it.
fn resident(process: u32) -> String {
    let status = std::fs::read_to_string(Path::new("/proc").join(process.to_string()).join("status"))
        .unwrap_or_default();
    let line = status.lines().find_map(|it| it.strip_prefix("VmRSS:"));
    line.map_or("?".to_owned(), |it| it.trim().trim_end_matches(" kB").to_owned())
}
