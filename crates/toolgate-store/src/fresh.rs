//! New ids: 128 random bits behind a word that says what they name.

use aws_lc_rs::rand;

use crate::error::Fault;

pub(crate) fn id(prefix: &str) -> Result<String, Fault> {
    let mut bits = [0; 16];
    rand::fill(&mut bits).map_err(|_| Fault::Other("the system has no random numbers".to_owned()))?;
    Ok(format!("{prefix}{:032x}", u128::from_be_bytes(bits)))
}
