//! The results as Markdown: the tables of `docs/simulation.md`.

use std::fmt::Write;

use crate::demand::Demand;
use crate::hit_ratio::Routing;
use crate::node::Sources;
use crate::table::Table;

/// Returns all tables as Markdown.
#[must_use]
pub fn markdown(table: &Table, demands: &[Demand]) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = all(&mut text, table, demands);
    text
}

fn all(text: &mut String, table: &Table, demands: &[Demand]) -> std::fmt::Result {
    hit_ratios(text, table)?;
    days(text, table)?;
    bursts(text, table)?;
    others(text, table)?;
    rings(text, table)?;
    of_demands(text, demands)
}

fn hit_ratios(text: &mut String, table: &Table) -> std::fmt::Result {
    text.push_str("### Hit ratio of the memory tier, %\n\n");
    text.push_str("| nodes | routing | memory per node | α | requests | Andon (SIEVE) | LRU | model (LRU) | LRU − model | model in the end |\n");
    text.push_str("|---|---|---|---|---|---|---|---|---|---|\n");
    for row in &table.hit_ratios {
        let case = &row.case;
        let routing = match case.routing {
            Routing::ByImage => "by image",
            Routing::RoundRobin => "round robin",
        };
        writeln!(
            text,
            "| {} | {routing} | {} MiB | {:.1} | {} | {:.1} | {:.1} | {:.1} | {:+.2} | {:.1} |",
            thousands(case.nodes as u64),
            case.memory >> 20,
            case.alpha,
            thousands(case.requests as u64),
            row.andon,
            row.lru,
            row.model,
            row.lru - row.model,
            row.in_the_end,
        )?;
    }
    Ok(())
}

fn days(text: &mut String, table: &Table) -> std::fmt::Result {
    for (day, phases) in &table.days {
        let all: u64 = phases.iter().map(|phase| phase.tally.requests).sum();
        writeln!(
            text,
            "\n### A day of {} nodes, α {:.1}, sources {}: {} requests\n",
            thousands(day.nodes as u64),
            day.alpha,
            match day.sources {
                Sources::Network => "at an origin",
                Sources::Files => "in files",
            },
            thousands(all)
        )?;
        text.push_str("| phase | requests | memory % | joined % | store % | made % | made, first time | made again | 503 | lost | wrong | p50 / p99 ms | p99 of misses | p99 of making | busiest node |\n");
        text.push_str("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
        for phase in phases {
            let tally = &phase.tally;
            writeln!(
                text,
                "| {} | {} | {:.1} | {:.2} | {:.2} | {:.2} | {} | {} | {} | {} | {} | {:.0} / {:.0} | {:.0} | {:.0} | {:.1} × |",
                phase.name,
                thousands(tally.requests),
                tally.per_cent(tally.memory),
                tally.per_cent(tally.joined),
                tally.per_cent(tally.store),
                tally.per_cent(tally.made),
                thousands(phase.begun - phase.begun_again),
                thousands(phase.begun_again),
                thousands(tally.rejected),
                thousands(tally.lost),
                tally.wrong,
                tally.quantile(0.5),
                tally.quantile(0.99),
                tally.misses.quantile(0.99),
                tally.making.quantile(0.99),
                phase.most_requests,
            )?;
        }
    }
    Ok(())
}

fn bursts(text: &mut String, table: &Table) -> std::fmt::Result {
    text.push_str("\n### Requests for one image at the same moment, at a cold fleet\n\n");
    text.push_str("| nodes | requests for it | all requests | load balancer | store | times made | nodes that hold it | 503 | p99 ms |\n");
    text.push_str("|---|---|---|---|---|---|---|---|---|\n");
    for outcome in &table.bursts {
        let (burst, tally) = (&outcome.burst, &outcome.tally);
        let balancer = match burst.factor {
            None => "hashing".to_owned(),
            Some(factor) => format!("bounded loads, {factor}"),
        };
        writeln!(
            text,
            "| {} | {} | {}{} | {balancer} | {} | {} | {} | {} | {:.0} |",
            thousands(burst.nodes as u64),
            thousands(u64::from(burst.requests)),
            thousands(tally.requests),
            burst
                .among
                .map_or(String::new(), |alpha| format!(" (α {alpha:.1})")),
            if burst.store_is_down { "down" } else { "up" },
            outcome.begun,
            outcome.holders,
            thousands(tally.rejected),
            tally.quantile(0.99),
        )?;
    }
    Ok(())
}

fn others(text: &mut String, table: &Table) -> std::fmt::Result {
    text.push_str("\n### Overload, purge and planted objects\n\n");
    for outcome in &table.overloads {
        let (overload, tally) = (&outcome.overload, &outcome.tally);
        writeln!(
            text,
            "- {} × the capacity of {} nodes, {} requests for as many images, each sent to {} at most: {:.1} % of the capacity \
             is used, {:.0} % of the requests get 503, p99 of the others {:.0} ms.",
            overload.times,
            overload.nodes,
            thousands(tally.requests),
            if overload.tries == 1 {
                "one node"
            } else {
                "two nodes"
            },
            outcome.goodput,
            tally.per_cent(tally.rejected),
            tally.quantile(0.99),
        )?;
    }
    let purge = &table.purge;
    writeln!(
        text,
        "- A purge at one of {} nodes: the last old result is served {:.2} s later; {:.2} s after healing by nodes that were \
         cut off from the store for 20 s (which served {} old ones meanwhile); {} by nodes that restarted. {} requests.",
        thousands(purge.nodes as u64),
        purge.last_old,
        purge.last_old_after_healing,
        thousands(purge.old_while_cut),
        purge.old_after_restart,
        thousands(purge.requests),
    )?;
    let planted = &table.planted;
    writeln!(
        text,
        "- Of {} objects that were changed, torn, swapped or made up, {} are used; of {} that nobody touched, {}.",
        thousands(planted.planted),
        planted.used,
        thousands(planted.untouched),
        thousands(planted.untouched_used),
    )
}

fn rings(text: &mut String, table: &Table) -> std::fmt::Result {
    text.push_str("\n### The ring (α 0.9)\n\n");
    text.push_str("| nodes | points each | images: standard deviation | most images | most requests | without the 1,000 hottest images | moved by a loss, % | by doubling, % |\n");
    text.push_str("|---|---|---|---|---|---|---|---|\n");
    for row in &table.rings {
        writeln!(
            text,
            "| {} | {} | {:.3} | {:.2} × | {:.1} × | {:.2} × | {:.2} | {:.1} |",
            thousands(row.nodes as u64),
            thousands(row.points as u64),
            row.deviation,
            row.most_images,
            row.most_requests,
            row.most_requests_of_others,
            100.0 * row.moved_by_loss,
            100.0 * row.moved_by_doubling,
        )?;
    }
    Ok(())
}

fn of_demands(text: &mut String, demands: &[Demand]) -> std::fmt::Result {
    text.push_str("\n### Demands\n\n| | found | demanded |\n|---|---|---|\n");
    for demand in demands {
        let unit = match demand.unit {
            "" => String::new(),
            unit => format!(" {unit}"),
        };
        writeln!(
            text,
            "| {} | {}{}{unit} | {} {}{unit} |",
            demand.name,
            if demand.is_met() { "" } else { "**missed:** " },
            short(demand.value),
            if demand.is_most {
                "at most"
            } else {
                "at least"
            },
            short(demand.limit),
        )?;
    }
    Ok(())
}

/// Formats a number with two decimal places, or with none if it is whole.
fn short(value: f64) -> String {
    if value == value.round() {
        match value < 0.0 {
            true => format!("{value:.0}"),
            false => thousands(value as u64),
        }
    } else {
        format!("{value:.2}")
    }
}

/// Formats a number with commas between thousands.
pub(crate) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_set_apart() {
        assert_eq!(thousands(0), "0");
        assert_eq!(thousands(999), "999");
        assert_eq!(thousands(1000), "1,000");
        assert_eq!(thousands(12_345_678), "12,345,678");
    }
}
