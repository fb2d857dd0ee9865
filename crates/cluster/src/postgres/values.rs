//! Parameters and results of statements, in a form that processes can send to each other.

use serde::{Deserialize, Serialize};
use tokio_postgres::types::{ToSql, Type};

use crate::failure::Failure;

/// A parameter of a statement.
#[derive(Clone, Serialize, Deserialize, Debug)]
pub(super) enum Parameter {
    Bool(bool),
    Int(i64),
    Text(String),
    Ints(Vec<Option<i64>>),
    Texts(Vec<String>),
}

impl Parameter {
    /// Returns the value and its type. Without the type, the client would ask the server for it.
    pub(super) fn typed(&self) -> (&(dyn ToSql + Sync), Type) {
        match self {
            Parameter::Bool(value) => (value, Type::BOOL),
            Parameter::Int(value) => (value, Type::INT8),
            Parameter::Text(value) => (value, Type::TEXT),
            Parameter::Ints(value) => (value, Type::INT8_ARRAY),
            Parameter::Texts(value) => (value, Type::TEXT_ARRAY),
        }
    }
}

impl From<bool> for Parameter {
    fn from(value: bool) -> Self {
        Parameter::Bool(value)
    }
}

impl From<i64> for Parameter {
    fn from(value: i64) -> Self {
        Parameter::Int(value)
    }
}

impl From<&str> for Parameter {
    fn from(value: &str) -> Self {
        Parameter::Text(value.into())
    }
}

impl From<&[i64]> for Parameter {
    fn from(values: &[i64]) -> Self {
        Parameter::Ints(values.iter().copied().map(Some).collect())
    }
}

impl From<&[Option<i64>]> for Parameter {
    fn from(values: &[Option<i64>]) -> Self {
        Parameter::Ints(values.into())
    }
}

impl From<&[String]> for Parameter {
    fn from(values: &[String]) -> Self {
        Parameter::Texts(values.into())
    }
}

/// A row of a result.
#[derive(Clone, PartialEq, Serialize, Deserialize, Debug)]
pub(super) struct Row(Vec<Value>);

/// A value in a row.
#[derive(Clone, PartialEq, Serialize, Deserialize, Debug)]
enum Value {
    Null,
    Int(i64),
    Text(String),
}

impl Row {
    /// Returns the number in this column.
    pub(super) fn int(&self, column: usize) -> Result<i64, Failure> {
        match self.0.get(column) {
            Some(Value::Int(value)) => Ok(*value),
            other => Err(unexpected(column, other)),
        }
    }

    /// Returns the text in this column. Fails if the column has another type.
    pub(super) fn text(&self, column: usize) -> Result<&str, Failure> {
        match self.0.get(column) {
            Some(Value::Text(value)) => Ok(value),
            other => Err(unexpected(column, other)),
        }
    }
}

fn unexpected(column: usize, value: Option<&Value>) -> Failure {
    Failure::Refused(format!("its answer has an unexpected value in column {column}: {value:?}"))
}

impl TryFrom<tokio_postgres::Row> for Row {
    type Error = Failure;

    fn try_from(row: tokio_postgres::Row) -> Result<Self, Failure> {
        let value = |(at, column): (usize, &tokio_postgres::Column)| {
            let value = match *column.type_() {
                Type::INT4 => row.try_get::<_, Option<i32>>(at)?.map(|int| Value::Int(int.into())),
                Type::INT8 => row.try_get::<_, Option<i64>>(at)?.map(Value::Int),
                _ => row.try_get::<_, Option<String>>(at)?.map(Value::Text),
            };
            Ok(value.unwrap_or(Value::Null))
        };
        row.columns().iter().enumerate().map(value).collect::<Result<_, Failure>>().map(Row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_survives_being_sent_to_another_process() {
        let row = Row(vec![Value::Int(i64::MIN), Value::Text("a\n\u{1}\"".into()), Value::Null]);
        let text = serde_json::to_string(&row).expect("plain data");
        assert!(!text.contains('\n'), "a message is one line");
        assert_eq!(serde_json::from_str::<Row>(&text).expect("the same data"), row);
        assert_eq!(row.int(0).expect("a number"), i64::MIN);
        assert!(row.int(1).is_err() && row.text(0).is_err() && row.text(3).is_err());
    }
}
