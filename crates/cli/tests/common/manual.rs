//! Checks of a program's help, manual pages and completions.

use std::path::Path;

use super::said::said;

/// A command whose help another program prints, and whether the tested program writes its manual page.
type Other = (&'static str, bool);

/// Returns each command and subcommand of a program, as its help lists them, without `others`.
fn commands(program: &Path, others: &[Other]) -> Vec<(String, String)> {
    let name = program.file_name().expect("a name").to_str();
    let mut names = vec![name.expect("text").to_owned()];
    let mut commands = Vec::new();
    while let Some(command) = names.get(commands.len()).cloned() {
        let (_, words) = command.split_once(' ').unwrap_or_default();
        let help = said(program, &std::env::temp_dir(), &format!("{words} --help"));
        let help = help.ending(0).out;
        let listed = help.lines().skip_while(|line| *line != "Commands:");
        let listed = listed.skip(1).take_while(|line| !line.is_empty());
        // A line with more indentation continues the one above.
        let named = listed.filter_map(|line| line.strip_prefix("  "));
        let named = named.filter(|line| !line.starts_with([' ', '\t']));
        let below = named.filter_map(|line| line.split_whitespace().next());
        let own = |word: &&str| *word != "help" && others.iter().all(|(other, _)| other != word);
        names.extend(below.filter(own).map(|word| format!("{command} {word}")));
        commands.push((command, help));
    }
    assert!(commands.len() > 10, "{names:?}");
    commands
}

/// Every command's help has its own examples, and no colours if the output is not a terminal.
pub fn every_command_has_help_with_examples(program: &Path, others: &[Other]) {
    for (command, help) in commands(program, others) {
        let (_, examples) = help.split_once("Examples:\n").unwrap_or_default();
        assert!(examples.contains(&format!("  {command}")), "{help}");
        assert!(!help.contains('\x1b'), "{help}");
    }
}

/// Every command has a manual page with the usual sections and its own examples, and there are no other pages.
pub fn every_command_has_a_page(program: &Path, folder: &Path, others: &[Other]) {
    said(program, folder, "man man/man1").ending(0);
    let pages = folder.join("man/man1");
    let own = commands(program, others);
    let name = &own[0].0;
    let others = others.iter().filter(|(_, has_page)| *has_page);
    let mut commands: Vec<String> = others.map(|(word, _)| format!("{name} {word}")).collect();
    commands.extend(own.iter().map(|(command, _)| command.clone()));
    for command in &commands {
        let file = pages.join(format!("{}.1", command.replace(' ', "-")));
        let page = std::fs::read_to_string(&file).unwrap_or_else(|_| panic!("{command}"));
        let page = page.replace(r"\-", "-");
        let (above, examples) = page.split_once(".SH EXAMPLES\n").expect(command);
        assert!(examples.contains(&format!("\n{command}")), "{page}");
        for part in [".TH ", ".SH NAME\n", ".SH SYNOPSIS\n", ".SH OPTIONS\n"] {
            assert!(above.contains(part), "{part}: {page}");
        }
    }
    let count = std::fs::read_dir(&pages).expect("a folder").count();
    assert_eq!(count, commands.len());
    let refused = said(program, folder, "man /dev/null/man");
    assert!(matches!(refused.code, Some(1..)), "{}", refused.out);
    let why = "/dev/null/man cannot be created";
    assert!(refused.err.contains(why), "{}", refused.err);
}

/// The completion scripts of all shells contain every command.
pub fn completions_name_every_command(program: &Path, folder: &Path, others: &[Other]) {
    for shell in ["bash", "zsh", "fish"] {
        let script = said(program, folder, &format!("completions {shell}"))
            .ending(0)
            .out;
        for (command, _) in commands(program, others) {
            let word = command.rsplit(' ').next().expect("a word");
            assert!(script.contains(word), "{shell}: {command}");
        }
    }
}
