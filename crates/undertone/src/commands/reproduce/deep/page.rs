//! The page: tables beside the paper's, pictures, claims, and what was left out.

use super::figure::Turned;
use super::record::Run;
use super::table::{Mean, Table};
use super::{Findings, networks};
use crate::commands::reproduce::claims_page::{self, STYLE, escape};

/// One self-contained page.
pub(super) fn html(findings: &Findings) -> String {
    let claims: Vec<_> = findings.claims.iter().collect();
    let [of_tables, of_knobs] = &findings.pictures;
    let tables = findings.tables.iter().zip(of_tables).map(|(table, (_, svg))| {
        format!(
            "<h2>{}</h2>\n{}{}<figure>{svg}</figure>\n",
            table.title(),
            of_table(table),
            sentence(table.departures())
        )
    });
    let tables: String = tables.collect();
    format!(
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>Deep learning with private labels</title>\n\
<style>{STYLE}</style>\n<h1>Deep learning with private labels</h1>\n{}{}<h2>Claims</h2>\n{}{tables}{}{}{}</html>\n",
        about(findings),
        claims_page::summary(&claims),
        claims_page::table(&findings.claims),
        knobs(of_knobs, findings),
        left_out(&findings.left_out),
        runs(&findings.runs)
    )
}

/// A paragraph, if there is something to say.
fn sentence(words: Option<String>) -> String {
    words.map_or_else(String::new, |words| format!("<p>{}</p>\n", escape(&words)))
}

fn about(findings: &Findings) -> String {
    let size = if findings.quick {
        "The last run was a quick one: few people, a small network, and images that may be nobody's. "
    } else {
        ""
    };
    format!(
        "<p>{size}Beside the numbers of Ghazi, Golowich, Kumar, Manurangsi, Zhang, <i>Deep Learning with Label Differential Privacy</i> (2021), \
stand our run of their method and our default. <b>LP-1ST</b>, <b>LP-2ST</b>, <b>LP-3ST</b> are the published stages: randomized \
response, later people asked among the labels that the network of the stage before holds for likely (temperature 0.5), reports taken \
as labels, warm start, filter, and mixup for images; of two stages the first has 65 in 100 people. In what networks and their training \
are others than in the paper is said below each table. <b>Ours</b> is, for images, what \
<code>train --model representation</code> does: everybody answers once, and reports are smoothed over what public pixels tell by \
themselves; for ratings, what <code>train --model factors</code> does: everybody reports a number, and what people, films and their pairs \
add to it is learnt.</p>\n\
<p><b>Seeds.</b> Devices and networks of a run follow from its seed. Seeds up to 100 are for development: whatever was chosen by looking \
at results was chosen with those. Seeds from 101 on are for confirmation: nothing is to be chosen by them. They are never averaged \
together. Behind ± stands the standard error over seeds. From one seed there is none: the sampling error of the judges, which is what the \
same model would vary by before other judges, then stands in brackets. Files have them in columns of their own.</p>\n\
<p><b>Labels.</b> Devices are simulated, and forget their label as they answer, by a mechanism and once; learning, choices and the end of \
training see reports only. The labels of those who judge are looked at when a model is finished. Without privacy (∞) devices answer by \
randomized response with ε = 40, which is the truth but for one answer in 10<sup>16</sup>. Our time includes looking at the public \
features, though that is done once for all ε and seeds. The published numbers are those of the official files.</p>\n"
    )
}

fn of_table(table: &Table) -> String {
    let header: String =
        table.epsilons.iter().map(|epsilon| format!("<th>ε = {epsilon}")).collect::<Vec<_>>().concat();
    let cell = |text: Option<String>| format!("<td class=\"n\">{}", text.unwrap_or_else(|| "–".to_owned()));
    let published = table.published().map(|(name, values)| {
        let cells: String =
            values.iter().map(|value| cell(value.map(|value| table.set.words(value)))).collect();
        format!("<tr><td>{name}{cells}<td></tr>\n")
    });
    let own = table.lines.iter().map(|line| {
        let cells: String = line.cells.iter().map(|mean| cell(mean.as_ref().map(Mean::words))).collect();
        let all = || line.cells.iter().flatten();
        let seeds: Vec<String> = all().map(|mean| mean.seeds.to_string()).collect();
        let spent: Vec<f64> = all().filter_map(|mean| mean.cpu_seconds).collect();
        let mean = spent.iter().sum::<f64>() / spent.len().max(1) as f64;
        format!(
            "<tr><td>{}{cells}<td class=\"n\">{} seeds, {mean:.0} CPU s a run</tr>\n",
            escape(&line.name),
            seeds.join("/")
        )
    });
    let rows: String = published.chain(own).collect();
    let errors =
        table.lines.iter().flat_map(|line| line.cells.iter().flatten()).map(|mean| mean.sampling_error);
    let error = table.set.words(errors.fold(0.0, f64::max));
    let measure = table.set.measure();
    format!(
        "<table><tr><th>{measure}{header}<th></tr>\n{rows}</table>\n<p>Sampling error of the judges: at most {error}.</p>\n"
    )
}

fn knobs(pictures: &[(String, String)], findings: &Findings) -> String {
    if pictures.is_empty() {
        return String::new();
    }
    let settings = || findings.turned.iter().flat_map(Turned::settings);
    let most = settings().map(|setting| setting.people).max();
    let drawn: String =
        pictures.iter().map(|(_, svg)| format!("<figure>{svg}</figure>\n")).collect::<Vec<_>>().concat();
    format!(
        "<h2>Stages, temperature, split, mixup</h2>\n<p>The published method with one knob turned while the others stay, on the first {} \
people only, to keep time sensible: compare within a picture. Bars are two standard errors, of seeds, or of the judges where there is one \
seed.</p>\n{}{drawn}",
        most.unwrap_or(0),
        sentence(networks::departures(settings()))
    )
}

fn left_out(all: &[String]) -> String {
    let items: String = all.iter().map(|item| format!("<li>{}", escape(item))).collect::<Vec<_>>().concat();
    if all.is_empty() { String::new() } else { format!("<h2>Left out</h2>\n<ul>{items}</ul>\n") }
}

fn runs(runs: &[Run]) -> String {
    let row = |run: &Run| {
        let cpu = run.outcome.cpu_seconds.map_or_else(|| "–".to_owned(), |cpu| format!("{cpu:.0}"));
        format!(
            "<tr><td>{}<td class=\"n\">{}<td class=\"n\">{cpu}<td class=\"n\">{:.0}</tr>\n",
            escape(&run.setting.slug()),
            run.setting.set.words(run.outcome.value),
            run.outcome.wall_seconds
        )
    };
    let rows: String = runs.iter().map(row).collect();
    format!(
        "<details><summary>All {} runs</summary><table><tr><th>run<th>value<th>CPU s<th>s</tr>\n{rows}</table></details>\n",
        runs.len()
    )
}
