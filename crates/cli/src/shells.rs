//! `knowing completions` and `knowing man`, from the same definitions as the help.

use std::io::{self, Write};

use clap::Command;
use clap_complete::Shell;
use clap_mangen::Man;

/// Print completions for a shell
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  knowing completions bash > ~/.local/share/bash-completion/completions/knowing
  knowing completions zsh > ~/.zfunc/_knowing
  knowing completions fish > ~/.config/fish/completions/knowing.fish")]
pub(crate) struct Completions {
    shell: Supported,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Supported {
    Bash,
    Zsh,
    Fish,
    Powershell,
}

/// Print the manual page
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  knowing man > ~/.local/share/man/man1/knowing.1
  knowing man | man -l -")]
pub(crate) struct ManPage {}

pub(crate) fn completions(
    mut command: Command,
    arguments: &Completions,
    output: &mut dyn Write,
) -> io::Result<()> {
    let shell = match arguments.shell {
        Supported::Bash => Shell::Bash,
        Supported::Zsh => Shell::Zsh,
        Supported::Fish => Shell::Fish,
        Supported::Powershell => Shell::PowerShell,
    };
    // Made whole first: the generator fails loudly where output cannot be written, and a closed pipe is no failure.
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut command, "knowing", &mut text);
    output.write_all(&text)
}

/// One page: the program, then each command.
pub(crate) fn man(command: Command, output: &mut dyn Write) -> io::Result<()> {
    let mut page = Vec::new();
    let whole = Man::new(command.clone());
    whole.render_title(&mut page)?;
    whole.render_name_section(&mut page)?;
    whole.render_synopsis_section(&mut page)?;
    whole.render_description_section(&mut page)?;
    whole.render_options_section(&mut page)?;
    let mut text = String::from_utf8_lossy(&page).into_owned();
    text.push_str(".SH COMMANDS\n");
    for sub in command.get_subcommands().filter(|it| !it.is_hide_set()) {
        let mut section = Vec::new();
        let name = format!("knowing {}", sub.get_name());
        let man = Man::new(sub.clone().display_name(&name).bin_name(&name));
        man.render_description_section(&mut section)?;
        man.render_synopsis_section(&mut section)?;
        if sub.get_arguments().next().is_some() {
            man.render_options_section(&mut section)?;
        }
        man.render_extra_section(&mut section)?;
        text.push_str(&format!(".SS \"{name}\"\n"));
        // Within a command there are no sections, only paragraphs.
        let inner = String::from_utf8_lossy(&section).into_owned();
        text.extend(inner.lines().map(|line| match line.strip_prefix(".SH ") {
            Some("DESCRIPTION") => String::new(),
            Some(heading) => format!(".PP\n\\fI{}\\fR\n.br\n", heading.to_lowercase()),
            None => format!("{line}\n"),
        }));
    }
    let mut extra = Vec::new();
    Man::new(command).render_extra_section(&mut extra)?;
    text.push_str(&String::from_utf8_lossy(&extra));
    output.write_all(text.as_bytes())
}
