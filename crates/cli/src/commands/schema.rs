//! `rag-gate schema`: the JSON Schema of each file, generated from the types.

use std::collections::BTreeMap;

use gate::history::HistoryLine;
use gate::policy::GateFile;
use gate::results::ResultsFile;
use gate::verdict::Verdict;
use schemars::{JsonSchema, Schema, SchemaGenerator, generate::SchemaSettings, json_schema};

use crate::args::SchemaName;
use crate::console;
use crate::error::Error;
use crate::exit_code::ExitCode;

pub(crate) fn run(name: SchemaName) -> Result<ExitCode, Error> {
    console::print(&text(name))?;
    Ok(ExitCode::Pass)
}

fn text(name: SchemaName) -> String {
    let schema = match name {
        SchemaName::Results | SchemaName::Baseline => of::<AnyShape>(name),
        SchemaName::Verdict => of::<Verdict>(name),
        SchemaName::Gate => of::<GateFile>(name),
        SchemaName::History => of::<HistoryLine>(name),
    };
    let schema = gate::json::sorted(&schema.to_value());
    let mut text = serde_json::to_string_pretty(&schema).unwrap_or_default();
    text.push('\n');
    text
}

fn of<T: JsonSchema>(name: SchemaName) -> Schema {
    // What we read may leave out what has a default; what we write has it.
    let settings = match name {
        SchemaName::Verdict => SchemaSettings::draft2020_12().for_serialize(),
        _ => SchemaSettings::draft2020_12(),
    };
    settings.into_generator().into_root_schema_for::<T>()
}

/// The three shapes of a results file.
struct AnyShape;

impl JsonSchema for AnyShape {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Results".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let file = generator.subschema_for::<ResultsFile<'_>>();
        let flat = generator.subschema_for::<BTreeMap<String, Option<f64>>>();
        json_schema!({
            "description": "Results: with samples, as a summary, or metric means alone.",
            "anyOf": [
                {"allOf": [file, {"anyOf": [
                    {"required": ["samples"]},
                    {"required": ["metrics"]},
                    {"required": ["variants"]}
                ]}]},
                flat
            ]
        })
    }
}
