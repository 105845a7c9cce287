//! The official SDK for Python speaks with the real executable, where it is installed.

use std::process::Command;

use crate::protocol::Served;
use crate::session::{Session, shop};

/// An interpreter that has the SDK: the one that is named, or the first that is there.
fn python() -> Option<String> {
    let named = std::env::var("KNOWING_TEST_PYTHON").ok();
    let found = named.into_iter().chain(["python3".to_owned(), "python".to_owned()]).find(|it| {
        let ran =
            Command::new(it).args(["-c", "import mcp.client.stdio, mcp.client.streamable_http"]).output();
        ran.is_ok_and(|it| it.status.success())
    });
    if found.is_none() {
        say(
            "SKIPPED: no Python with the package `mcp`; `.ci/run` installs it, `KNOWING_TEST_PYTHON` names one",
        );
    }
    found
}

#[expect(clippy::print_stderr, reason = "a test that does not run should be seen")]
fn say(text: &str) {
    eprintln!("{text}");
}

const CLIENT: &str = r#"
import asyncio, json, sys
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

async def converse(read, write):
    async with ClientSession(read, write) as session:
        # Older packages know nothing of requests that need no handshake.
        is_modern = sys.argv[3] == "stateless" and hasattr(session, "discover")
        hello = await (session.discover() if is_modern else session.initialize())
        tools = (await session.list_tools()).tools
        found = await session.call_tool("graph_query", {"query": "*"})
        wrong = await session.call_tool("graph_query", {})
        resources = (await session.list_resources()).resources
        report = await session.read_resource("knowing://report")
        prompts = (await session.list_prompts()).prompts
        prompt = await session.get_prompt("review_pr", {"base": "HEAD"})
        dump = lambda it: it.model_dump(mode="json", by_alias=True)
        print(json.dumps({
            "hello": dump(hello), "tools": len(tools), "resources": len(resources), "prompts": len(prompts),
            "found": dump(found), "wrong": dump(wrong),
            "report": json.loads(report.contents[0].text), "prompt": prompt.messages[0].content.text,
        }))

async def main():
    if sys.argv[1] == "http":
        async with streamable_http_client(sys.argv[2]) as streams:
            await converse(streams[0], streams[1])
    else:
        async with stdio_client(StdioServerParameters(command=sys.argv[2], args=["mcp"])) as (read, write):
            await converse(read, write)

asyncio.run(main())
"#;

#[test]
fn t1_the_official_client_for_python_is_understood_on_both_transports() {
    let Some(python) = python() else { return };
    let (session, repo) = (Session::new(), shop());
    session.index(&repo);
    let served = Served::start(&session, repo.path(), &[]);
    let url = format!("http://127.0.0.1:{}/mcp", served.port);
    let program = session.command(repo.path()).get_program().to_str().unwrap().to_owned();
    let ways = ["handshake", "stateless"];
    let targets = [("stdio", program.as_str()), ("http", url.as_str())];
    for (way, (transport, target)) in ways.iter().flat_map(|way| targets.map(|it| (way, it))) {
        let mut command = Command::new(&python);
        command.args(["-c", CLIENT, transport, target, way]).current_dir(repo.path());
        // The client hands on little of its environment: the server must find its data all the same.
        let output =
            command.env("XDG_DATA_HOME", session.data()).env("HOME", session.file("")).output().unwrap();
        assert!(output.status.success(), "{transport}, {way}: {}", String::from_utf8_lossy(&output.stderr));
        let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert!(
            told["hello"].to_string().contains("\"name\":\"knowing\""),
            "{transport}, {way}: {}",
            told["hello"]
        );
        assert!(told["tools"].as_u64().unwrap() >= 10);
        assert_eq!((told["resources"].as_u64(), told["prompts"].as_u64()), (Some(6), Some(3)));
        assert_eq!(told["found"]["isError"], false, "{told}");
        assert_eq!(told["wrong"]["structuredContent"]["error"]["kind"], "usage");
        assert!(told["report"]["files"].as_u64().unwrap() > 0);
        assert!(told["prompt"].as_str().unwrap().contains("What changed"));
    }
}
