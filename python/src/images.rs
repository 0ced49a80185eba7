//! Reads Arrow arrays of images.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

/// Returns the image files in an array, with `None` for nulls.
pub(crate) fn files(array: &ArrayRef) -> PyResult<Vec<Option<&[u8]>>> {
    Ok(match array.data_type() {
        DataType::Binary => array.as_binary::<i32>().iter().collect(),
        DataType::LargeBinary => array.as_binary::<i64>().iter().collect(),
        DataType::BinaryView => array.as_binary_view().iter().collect(),
        DataType::Null => vec![None; array.len()],
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            let values = files(dictionary.values())?;
            if values.is_empty() {
                return Ok(vec![None; array.len()]);
            }
            let keys = dictionary.normalized_keys().into_iter().enumerate();
            let value = |(row, key): (usize, usize)| {
                let value = values.get(key).copied().flatten();
                value.filter(|_| dictionary.keys().is_valid(row))
            };
            keys.map(value).collect()
        }
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
            let why = "images are an array of binary, not of strings: the bytes of the files, not their names";
            return Err(PyTypeError::new_err(why));
        }
        other => {
            return Err(PyTypeError::new_err(format!(
                "images are an array of binary, large_binary, binary_view or a dictionary of these, not {other}"
            )));
        }
    })
}
