//! FIT: the binary form that watches write, message by message. Every value is one of the profile's base types; those that
//! mean "not measured" are left out.

use rustyfit::{
    Decoder, DecoderEvent, StreamingIterator,
    proto::{Message, Value},
};

use super::{Refused, Tracks};
use crate::fitness::{
    sport,
    track::{Point, Track},
};

/// Numbers of messages in the FIT profile.
const FILE_ID: u16 = 0;
const SESSION: u16 = 18;
const RECORD: u16 = 20;
/// A file of this type is an activity.
const ACTIVITY: f64 = 4.0;
/// The second from which FIT counts: 1989-12-31.
const EPOCH: i64 = 631_065_600;
/// Half a circle in its unit of angles.
const HALF_CIRCLE: f64 = 2_147_483_648.0;

pub(super) fn read(content: &[u8]) -> Result<Vec<Track>, Refused> {
    let mut decoder = Decoder::builder().expand_components(false).build();
    let mut stream = decoder.stream(content);
    let mut tracks = Tracks::default();
    tracks.begin()?;
    while let Some(event) = stream.next() {
        match event.map_err(|fault| Refused::Broken(fault.to_string()))? {
            DecoderEvent::Message(message) => hear(message, &mut tracks)?,
            // one after another in a file are rare, and what they are of nobody says
            DecoderEvent::Crc(_) => break,
            _ => {}
        }
    }
    Ok(tracks.done)
}

fn hear(message: &Message, tracks: &mut Tracks) -> Result<(), Refused> {
    match message.num.0 {
        FILE_ID if field(message, 0).is_some_and(|kind| kind != ACTIVITY) => {
            return Err(Refused::Broken("it is a FIT file of something else than an activity".to_owned()));
        }
        RECORD => {
            tracks.count()?;
            let point = point(message);
            if let Some(track) = tracks.current() {
                track.points.push(point);
            }
        }
        SESSION => {
            if let Some(track) = tracks.current() {
                if let Some(number) = field(message, 5) {
                    track.sport = sport::of_fit(number).to_owned();
                }
                track.burn(field(message, 11));
            }
        }
        _ => {}
    }
    Ok(())
}

fn point(message: &Message) -> Point {
    let degrees = |number| field(message, number).map(|angle| angle * 180.0 / HALF_CIRCLE);
    let meters = |number| field(message, number).map(|raw| raw / 5.0 - 500.0);
    let mut point = Point {
        at: field(message, 253).and_then(whole).map(|second| (second + EPOCH) * 1000),
        latitude: degrees(0),
        longitude: degrees(1),
        altitude: meters(78).or_else(|| meters(2)),
        distance: field(message, 5).map(|centimeters| centimeters / 100.0),
        ..Point::default()
    };
    point.set_heart_rate(field(message, 3));
    point.set_cadence(field(message, 4));
    point.set_power(field(message, 7));
    point
}

/// A field's value, if it was measured.
fn field(message: &Message, number: u8) -> Option<f64> {
    let field = message.fields.iter().find(|field| field.num == number)?;
    match field.value {
        Value::Uint8(value) if value != u8::MAX => Some(f64::from(value)),
        Value::Int8(value) if value != i8::MAX => Some(f64::from(value)),
        Value::Uint16(value) if value != u16::MAX => Some(f64::from(value)),
        Value::Int16(value) if value != i16::MAX => Some(f64::from(value)),
        Value::Uint32(value) if value != u32::MAX => Some(f64::from(value)),
        Value::Int32(value) if value != i32::MAX => Some(f64::from(value)),
        _ => None,
    }
}

#[allow(clippy::cast_possible_truncation, reason = "a whole number of 32 bits")]
fn whole(value: f64) -> Option<i64> {
    (0.0..=f64::from(u32::MAX)).contains(&value).then_some(value as i64)
}
