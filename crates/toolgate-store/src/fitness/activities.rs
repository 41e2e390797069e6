//! Activities: a summary in columns, and the samples that analyses read, packed by the pack.

use super::FitnessRepository;
use crate::{
    StoreError,
    engine::{Touched, Write},
    error::Fault,
    statement::{FromRow, Row, Statement, Value},
};

/// An activity without its samples.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Activity {
    pub id: String,
    pub name: String,
    pub sport: String,
    /// Unix milliseconds.
    pub started_at: i64,
    pub figures: Figures,
}

/// What a summary says. An absent figure was not measured.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Figures {
    pub elapsed_s: i64,
    pub moving_s: i64,
    pub distance_cm: i64,
    pub elevation_gain_cm: i64,
    /// Tenths of a beat a minute.
    pub average_heart_rate: Option<i64>,
    pub max_heart_rate: Option<i64>,
    pub average_power: Option<i64>,
    pub max_power: Option<i64>,
    pub average_cadence: Option<i64>,
    pub calories: Option<i64>,
    pub start: Option<Place>,
    pub end: Option<Place>,
}

/// In millionths of a degree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    pub latitude: i64,
    pub longitude: i64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewActivity {
    pub activity: Activity,
    pub samples: Vec<u8>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActivityFilter<'a> {
    pub provider: &'a str,
    pub sport: Option<&'a str>,
    /// Both exclusive, in milliseconds.
    pub after: Option<i64>,
    pub before: Option<i64>,
    pub limit: i64,
    pub offset: i64,
}

impl<'a> ActivityFilter<'a> {
    pub fn all(provider: &'a str, limit: i64) -> Self {
        Self { provider, sport: None, after: None, before: None, limit, offset: 0 }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ActivityTotals {
    pub activities: i64,
    pub distance_cm: i64,
    pub elapsed_s: i64,
    pub elevation_gain_cm: i64,
}

macro_rules! columns {
    () => {
        "id, name, sport, started_at, elapsed_s, moving_s, distance_cm, elevation_gain_cm, average_heart_rate,
    max_heart_rate, average_power, max_power, average_cadence, calories, start_latitude, start_longitude, end_latitude,
    end_longitude"
    };
}

const ADD: &str = concat!(
    "INSERT INTO fitness_activities (user_id, provider, import_id, samples, ",
    columns!(),
    ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22)
    ON CONFLICT (user_id, id) DO NOTHING RETURNING id"
);
const LIST: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM fitness_activities WHERE user_id = $1 AND provider = $2 AND ($3 = '' OR sport = $3)
    AND started_at > $4 AND started_at < $5 ORDER BY started_at DESC, id LIMIT $6 OFFSET $7"
);
const FIND: &str =
    concat!("SELECT ", columns!(), " FROM fitness_activities WHERE user_id = $1 AND provider = $2 AND id = $3");
const SAMPLES: &str = "SELECT samples FROM fitness_activities WHERE user_id = $1 AND provider = $2 AND id = $3";
const TOTALS: &str = "SELECT COUNT(*), CAST(COALESCE(SUM(distance_cm), 0) AS BIGINT),
    CAST(COALESCE(SUM(elapsed_s), 0) AS BIGINT), CAST(COALESCE(SUM(elevation_gain_cm), 0) AS BIGINT)
    FROM fitness_activities WHERE user_id = $1 AND provider = $2";
const FORGET_IMPORT: &str = "DELETE FROM fitness_activities WHERE user_id = $1 AND import_id = $2 RETURNING id";
const FORGET_ALL: &str = "DELETE FROM fitness_activities WHERE user_id = $1 AND provider = $2 RETURNING id";
#[cfg(test)]
pub(super) const STATEMENTS: &[&str] = &[ADD, LIST, FIND, SAMPLES, TOTALS, FORGET_IMPORT, FORGET_ALL];

impl FitnessRepository {
    /// Keeps an activity under the import it came with. `false` if one of that id is there; it stays as it is.
    pub async fn add_activity(&self, provider: &str, import: &str, new: &NewActivity) -> Result<bool, StoreError> {
        let NewActivity { activity, samples } = new;
        let Figures { start, end, .. } = activity.figures;
        let figures = &activity.figures;
        let latitude = |place: Option<Place>| Value::Int(place.map(|place| place.latitude));
        let longitude = |place: Option<Place>| Value::Int(place.map(|place| place.longitude));
        let values = [
            self.user(),
            Value::id(provider),
            Value::id(import),
            Value::Bytes(samples.clone()),
            Value::id(&activity.id),
            Value::text(&activity.name),
            Value::id(&activity.sport),
            Value::int(activity.started_at),
            Value::int(figures.elapsed_s),
            Value::int(figures.moving_s),
            Value::int(figures.distance_cm),
            Value::int(figures.elevation_gain_cm),
            Value::Int(figures.average_heart_rate),
            Value::Int(figures.max_heart_rate),
            Value::Int(figures.average_power),
            Value::Int(figures.max_power),
            Value::Int(figures.average_cadence),
            Value::Int(figures.calories),
            latitude(start),
            longitude(start),
            latitude(end),
            longitude(end),
        ];
        let write = Write::new(Statement::new(ADD, values));
        Ok(!self.engine.write::<Touched>("keep an activity", write).await?.is_empty())
    }

    /// Newest first.
    pub async fn activities(&self, filter: &ActivityFilter<'_>) -> Result<Vec<Activity>, StoreError> {
        let values = [
            self.user(),
            Value::id(filter.provider),
            Value::text(filter.sport.unwrap_or_default()),
            Value::int(filter.after.unwrap_or(i64::MIN)),
            Value::int(filter.before.unwrap_or(i64::MAX)),
            Value::int(filter.limit),
            Value::int(filter.offset),
        ];
        self.engine.read("list activities", Statement::new(LIST, values)).await
    }

    pub async fn activity(&self, provider: &str, id: &str) -> Result<Option<Activity>, StoreError> {
        let statement = Statement::new(FIND, [self.user(), Value::id(provider), Value::id(id)]);
        self.engine.find("look up an activity", statement).await
    }

    pub async fn samples(&self, provider: &str, id: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let statement = Statement::new(SAMPLES, [self.user(), Value::id(provider), Value::id(id)]);
        Ok(self.engine.find::<Packed>("look up an activity's samples", statement).await?.map(|packed| packed.0))
    }

    pub async fn totals(&self, provider: &str) -> Result<ActivityTotals, StoreError> {
        let statement = Statement::new(TOTALS, [self.user(), Value::id(provider)]);
        Ok(self.engine.find("add up activities", statement).await?.unwrap_or_default())
    }

    /// How many went that came with this import.
    pub async fn forget_import(&self, import: &str) -> Result<usize, StoreError> {
        let write = Write::new(Statement::new(FORGET_IMPORT, [self.user(), Value::id(import)]));
        Ok(self.engine.write::<Touched>("forget imported activities", write).await?.len())
    }

    pub async fn forget_activities(&self, provider: &str) -> Result<usize, StoreError> {
        let write = Write::new(Statement::new(FORGET_ALL, [self.user(), Value::id(provider)]));
        Ok(self.engine.write::<Touched>("forget activities", write).await?.len())
    }
}

struct Packed(Vec<u8>);

impl FromRow for Packed {
    fn from_row(row: &mut Row) -> Result<Self, Fault> {
        row.bytes().map(Packed)
    }
}

impl FromRow for ActivityTotals {
    fn from_row(row: &mut Row) -> Result<Self, Fault> {
        Ok(ActivityTotals {
            activities: row.int()?,
            distance_cm: row.int()?,
            elapsed_s: row.int()?,
            elevation_gain_cm: row.int()?,
        })
    }
}

impl FromRow for Activity {
    fn from_row(row: &mut Row) -> Result<Self, Fault> {
        Ok(Activity {
            id: row.text()?,
            name: row.text()?,
            sport: row.text()?,
            started_at: row.int()?,
            figures: Figures {
                elapsed_s: row.int()?,
                moving_s: row.int()?,
                distance_cm: row.int()?,
                elevation_gain_cm: row.int()?,
                average_heart_rate: row.maybe_int()?,
                max_heart_rate: row.maybe_int()?,
                average_power: row.maybe_int()?,
                max_power: row.maybe_int()?,
                average_cadence: row.maybe_int()?,
                calories: row.maybe_int()?,
                start: place(row)?,
                end: place(row)?,
            },
        })
    }
}

fn place(row: &mut Row) -> Result<Option<Place>, Fault> {
    let (latitude, longitude) = (row.maybe_int()?, row.maybe_int()?);
    Ok(latitude.zip(longitude).map(|(latitude, longitude)| Place { latitude, longitude }))
}
