//! `andon import`: translates another server's configuration into one for Andon.
//!
//! Each format has a file in `import/` with a constant `FORMAT`, and a row in `FORMATS`.

mod assignments;
mod document;
mod filter;
mod followed;
mod imagor;
mod imgproxy;
mod joined;
mod locations;
mod model;
mod next;
mod nginx;
mod passes;
mod pattern;
mod python;
mod reasons;
mod site;
mod sources;
mod syntax;
mod thumbor;
mod units;
mod values;
mod variables;
mod write;

use std::path::{Path, PathBuf};

use andon_server::Config;
use anyhow::{Context, bail, ensure};

use andon_terminal::print;
pub(crate) use document::{unfilled, unknown_secret, unknown_secret_in};
pub(crate) use values::is_weak;
pub(crate) use variables::own_variable;
pub(crate) use write::quoted;

/// Placeholder for a bucket's name if the imported server names none: the user has to replace it in `andon.toml`.
pub(crate) const UNNAMED_BUCKET: &str = "name-of-the-bucket";

use self::variables::Variable;

/// Translate the configuration of another image server to an andon.toml: nginx, imgproxy, thumbor, imagor or Next.js
///
/// The format is detected from the content of the file. From nginx, locations with image_filter and ngx_small_light
/// become rewrites; roots, aliases and proxy_pass become origins; caches, limits and addresses become their keys.
/// imgproxy is read from its environment (IMGPROXY_KEY=…: an environment file, a docker-compose file, a systemd unit, a
/// command line, values of a Helm chart), imagor from its environment or flags, thumbor from thumbor.conf or from the
/// environment of its container, and Next.js from .next/required-server-files.json, which `next build` writes. Settings
/// without an equivalent become comments with their line and the reason.
#[derive(clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Args {
    /// nginx's main file, or one of a site; an environment file or docker-compose.yml; thumbor.conf; or a Next.js
    /// configuration as JSON; `-` is standard input
    #[arg(value_name = "FILE", required_unless_present = "variables")]
    file: Option<PathBuf>,
    /// The nginx server block to import, by its server_name or the address that it listens on [default: the first that
    /// makes images and is not behind another one]
    #[arg(long, value_name = "NAME")]
    server: Option<String>,
    /// For imgproxy, thumbor and imagor: write random keys instead of the secrets, each with the environment variable
    /// that sets it, for files that others may read, such as a `ConfigMap`
    #[arg(long)]
    no_secrets: bool,
    /// Print how each variable of this server is imported: imgproxy, thumbor or imagor
    #[arg(long, value_name = "SERVER", conflicts_with_all = ["file", "server", "no_secrets"])]
    variables: Option<String>,
}

const AFTER: &str = "\
Examples:
  andon import /etc/nginx/nginx.conf > andon.toml && andon config check andon.toml
  andon import /etc/nginx/sites-enabled/images --server images.example
  andon import docker-compose.yml > andon.toml
  andon import --no-secrets values.yaml > andon.toml
  andon import /etc/thumbor.conf > andon.toml
  andon import .next/required-server-files.json > andon.toml
  andon import --variables imgproxy

Files that nginx includes are read too. Keys and secrets are written to the result as they are, so treat it like the \
original. `andon shadow` then compares both servers.";

/// A configuration format that can be imported.
struct Format {
    /// Description of the format's files, for messages.
    name: &'static str,
    /// Whether a text is of this format.
    is: fn(&str) -> bool,
    /// Translates a file to the text of an `andon.toml`.
    read: fn(&Input<'_>) -> anyhow::Result<String>,
}

/// The file to import.
struct Input<'a> {
    text: &'a str,
    path: &'a Path,
    /// Name of the file, for comments in the generated configuration.
    name: &'a str,
    /// The `server_name` or address of the nginx server block to import. `None` selects the default one.
    server: Option<&'a str>,
    no_secrets: bool,
}

/// All configuration formats that can be imported, in the order in which they are tried.
const FORMATS: &[Format] = &[
    next::FORMAT,
    imgproxy::FORMAT,
    imagor::FORMAT,
    thumbor::FORMAT,
    nginx::FORMAT,
];

/// The servers whose variables (of the environment or of a configuration file) are imported one by one, each with the
/// table of its variables.
const TABLES: &[(&str, &[Variable])] = &[
    ("imgproxy", imgproxy::TABLE),
    ("thumbor", thumbor::TABLE),
    ("imagor", imagor::TABLE),
];

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    match (&args.file, &args.variables) {
        (Some(file), _) => import(file, args.server.as_deref(), args.no_secrets),
        (None, Some(server)) => list(server),
        (None, None) => bail!("name a file"),
    }
}

/// Prints how each variable of a server (imgproxy, thumbor or imagor) is imported, as a table.
fn list(server: &str) -> anyhow::Result<()> {
    let table = TABLES.iter().find(|(name, _)| *name == server);
    let names: Vec<&str> = TABLES.iter().map(|(name, _)| *name).collect();
    let (_, table) = table.with_context(|| {
        format!(
            "--variables {server}: there is a table for each of {}",
            names.join(", ")
        )
    })?;
    print(variables::markdown(table).as_bytes())
}

fn import(file: &Path, server: Option<&str>, no_secrets: bool) -> anyhow::Result<()> {
    let text = text(file, server, no_secrets)?;
    // Report values that Andon refuses now, rather than when the server is started.
    if let Err(error) = Config::parse(&text, Path::new("")) {
        eprintln!("andon: what was written needs a change: {error:#}");
    }
    print(text.as_bytes())
}

/// Returns the text of the `andon.toml` for the configuration of another server. `server` selects one of several nginx
/// server blocks, and `no_secrets` replaces secrets by random values.
pub(crate) fn text(file: &Path, server: Option<&str>, no_secrets: bool) -> anyhow::Result<String> {
    let name = file.display().to_string();
    let file_name = file.file_name().unwrap_or_default().to_string_lossy();
    ensure!(
        !file_name.starts_with("next.config."),
        "{name} is a program: run `next build`, then import .next/required-server-files.json"
    );
    let bytes = crate::read::bytes(file).with_context(|| format!("{name} cannot be read"))?;
    let text = String::from_utf8_lossy(&bytes);
    let Some(format) = FORMATS.iter().find(|format| (format.is)(&text)) else {
        let names: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
        let hint = match text.contains("USER-SUPPLIED VALUES:") {
            true => "\n`helm get values RELEASE --all` prints the values of the chart, too",
            false => "",
        };
        bail!(
            "{name} is of no format that can be imported: {}{hint}",
            names.join("; ")
        );
    };
    ensure!(
        server.is_none() || format.name == nginx::FORMAT.name,
        "--server names a server block of nginx, but {name} is {}",
        format.name
    );
    ensure!(
        !no_secrets
            || TABLES
                .iter()
                .any(|(server, _)| format.name.contains(server)),
        "--no-secrets is for imgproxy, thumbor and imagor, but {name} is {}",
        format.name
    );
    (format.read)(&Input {
        text: &text,
        path: file,
        name: &name,
        server,
        no_secrets,
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const START: &str = "<!-- variables -->\n";
    const END: &str = "<!-- /variables -->\n";

    #[test]
    fn every_page_has_the_variables_of_its_server() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/dialects");
        for (server, table) in TABLES {
            let page = folder.join(server).with_extension("md");
            let text = fs::read_to_string(&page).expect(server);
            let (before, rest) = text.split_once(START).expect(server);
            let (_, after) = rest.split_once(END).expect(server);
            let table = variables::markdown(table);
            let new = format!("{before}{START}{table}{END}{after}");
            if std::env::var_os("ANDON_BLESS").is_some() {
                fs::write(&page, new).expect(server);
            } else {
                assert!(
                    new == text,
                    "docs/dialects/{server}.md lists other variables: run this test once with ANDON_BLESS=1 in its environment"
                );
            }
        }
    }

    #[test]
    fn a_file_is_recognized_by_its_content() {
        for (text, is) in [
            ("{\"images\": {}}", "Next.js"),
            ("IMGPROXY_KEY=ab", "imgproxy"),
            (
                "services:\n  imgproxy:\n    environment:\n      IMGPROXY_KEY: ab\n",
                "imgproxy",
            ),
            ("IMAGOR_SECRET=ab\nPORT=8000", "imagor"),
            ("imagor -imagor-secret ab", "imagor"),
            ("PORT=8000 imagor", "imagor"),
            ("SECURITY_KEY = 'ab'", "thumbor"),
            ("SECURITY_KEY = os.environ['KEY']", "thumbor"),
            ("server { listen 80; }", "nginx"),
            ("include sites/*;", "nginx"),
            ("location / { proxy_pass http://imagor:8000; }", "nginx"),
        ] {
            let format = FORMATS.iter().find(|format| (format.is)(text));
            let name = format.map_or("none", |format| format.name);
            assert!(name.contains(is), "{text}: {name}");
        }
        assert!(!FORMATS.iter().any(|format| (format.is)("hello: world")));
    }
}
