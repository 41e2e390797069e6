//! Activity files made up: the same outing always gives the same bytes.

use std::fmt::Write;

/// An outing along a meridian, a point every ten seconds.
#[derive(Debug, Clone)]
pub struct Outing {
    pub name: &'static str,
    pub sport: &'static str,
    /// Unix seconds.
    pub start: i64,
    pub seconds: i64,
    /// Decimeters a second, so that everything stays whole.
    pub speed: i64,
    /// At the start; it rises by ten to the end.
    pub heart_rate: i64,
    pub power: Option<i64>,
}

pub const STEP: i64 = 10;
/// 2026-03-02, a Monday, at 06:00.
pub const MONDAY: i64 = 1_772_431_200;
pub const DAY: i64 = 86_400;
/// A meter along a meridian, in degrees, on a globe of 6371 km.
const DEGREES_A_METER: f64 = 180.0 / (std::f64::consts::PI * 6_371_000.0);

impl Outing {
    pub fn run(start: i64, minutes: i64, speed: i64) -> Self {
        Self {
            name: "Morning run",
            sport: "Running",
            start,
            seconds: minutes * 60,
            speed,
            heart_rate: 140,
            power: None,
        }
    }

    fn points(&self) -> impl Iterator<Item = Point> {
        (0..=self.seconds / STEP).map(|step| {
            let second = step * STEP;
            Point {
                second: self.start + second,
                meters: (second * self.speed) as f64 / 10.0,
                // up by a meter each minute, and down again
                altitude: 100.0 + (second % 1200).min(1200 - second % 1200) as f64 / 60.0,
                heart_rate: self.heart_rate + second * 10 / self.seconds.max(1),
            }
        })
    }

    pub fn gpx(&self) -> Vec<u8> {
        let mut out = String::from(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<gpx version=\"1.1\" creator=\"toolgate\" xmlns=\"http://www.topografix.com/GPX/1/1\" xmlns:gpxtpx=\"http://www.garmin.com/xmlschemas/TrackPointExtension/v1\">\n",
        );
        writeln!(out, "<trk><name>{}</name><type>{}</type><trkseg>", self.name, self.sport.to_lowercase()).unwrap();
        for point in self.points() {
            writeln!(
                out,
                "<trkpt lat=\"{:.7}\" lon=\"8.0000000\"><ele>{:.1}</ele><time>{}</time><extensions><gpxtpx:TrackPointExtension><gpxtpx:hr>{}</gpxtpx:hr></gpxtpx:TrackPointExtension></extensions></trkpt>",
                47.0 + point.meters * DEGREES_A_METER,
                point.altitude,
                time(point.second),
                point.heart_rate
            )
            .unwrap();
        }
        out.push_str("</trkseg></trk>\n</gpx>\n");
        out.into_bytes()
    }

    pub fn tcx(&self) -> Vec<u8> {
        let mut out = String::from(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<TrainingCenterDatabase xmlns=\"http://www.garmin.com/xmlschemas/TrainingCenterDatabase/v2\" xmlns:ns3=\"http://www.garmin.com/xmlschemas/ActivityExtension/v2\">\n<Activities>",
        );
        writeln!(
            out,
            "<Activity Sport=\"{}\"><Id>{}</Id><Lap StartTime=\"{}\"><Calories>321</Calories><Track>",
            self.sport,
            time(self.start),
            time(self.start)
        )
        .unwrap();
        for point in self.points() {
            let power = self
                .power
                .map(|power| format!("<Extensions><ns3:TPX><ns3:Watts>{power}</ns3:Watts></ns3:TPX></Extensions>"));
            writeln!(
                out,
                "<Trackpoint><Time>{}</Time><AltitudeMeters>{:.1}</AltitudeMeters><DistanceMeters>{:.1}</DistanceMeters><HeartRateBpm><Value>{}</Value></HeartRateBpm>{}</Trackpoint>",
                time(point.second),
                point.altitude,
                point.meters,
                point.heart_rate,
                power.unwrap_or_default()
            )
            .unwrap();
        }
        writeln!(out, "</Track></Lap><Notes>{}</Notes></Activity></Activities>\n</TrainingCenterDatabase>", self.name)
            .unwrap();
        out.into_bytes()
    }

    /// The binary form, written from its description: a header, definitions, messages, and a checksum.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the figures of an outing fit")]
    pub fn fit(&self) -> Vec<u8> {
        let mut data = Vec::new();
        // file_id: type (enum) is 4, an activity
        define(&mut data, 0, 0, &[(0, 1, 0x00)]);
        data.extend([0, 4]);
        // record: timestamp, latitude, longitude, altitude, heart rate, cadence, distance, power
        define(
            &mut data,
            1,
            20,
            &[
                (253, 4, 0x86),
                (0, 4, 0x85),
                (1, 4, 0x85),
                (2, 2, 0x84),
                (3, 1, 0x02),
                (4, 1, 0x02),
                (5, 4, 0x86),
                (7, 2, 0x84),
            ],
        );
        for point in self.points() {
            data.push(1);
            data.extend(u32::try_from(point.second - 631_065_600).unwrap().to_le_bytes());
            let semicircles = |degrees: f64| (degrees * 2_147_483_648.0 / 180.0).round() as i32;
            data.extend(semicircles(47.0 + point.meters * DEGREES_A_METER).to_le_bytes());
            data.extend(semicircles(8.0).to_le_bytes());
            data.extend((((point.altitude + 500.0) * 5.0).round() as u16).to_le_bytes());
            data.push(u8::try_from(point.heart_rate).unwrap());
            // not measured
            data.push(0xff);
            data.extend(((point.meters * 100.0).round() as u32).to_le_bytes());
            data.extend(self.power.map_or(u16::MAX, |power| u16::try_from(power).unwrap()).to_le_bytes());
        }
        // session: sport, calories
        define(&mut data, 2, 18, &[(5, 1, 0x00), (11, 2, 0x84)]);
        data.extend([2, if self.sport == "Biking" { 2 } else { 1 }]);
        data.extend(321_u16.to_le_bytes());
        let mut file = vec![14, 0x20];
        file.extend(2132_u16.to_le_bytes());
        file.extend(u32::try_from(data.len()).unwrap().to_le_bytes());
        file.extend(b".FIT");
        file.extend(checksum(&file).to_le_bytes());
        let sum = checksum(&data);
        file.extend(data);
        file.extend(sum.to_le_bytes());
        file
    }
}

struct Point {
    second: i64,
    meters: f64,
    altitude: f64,
    heart_rate: i64,
}

/// A definition of a message: its local and its global number, and number, size and base type of each field.
pub fn define(data: &mut Vec<u8>, local: u8, message: u16, fields: &[(u8, u8, u8)]) {
    data.extend([0x40 | local, 0, 0]);
    data.extend(message.to_le_bytes());
    data.push(u8::try_from(fields.len()).unwrap());
    for (number, size, base) in fields {
        data.extend([*number, *size, *base]);
    }
}

/// CRC-16 with the polynomial that FIT uses, bit by bit.
pub fn checksum(data: &[u8]) -> u16 {
    let mut crc = 0_u16;
    for byte in data {
        crc ^= u16::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { (crc >> 1) ^ 0xa001 } else { crc >> 1 };
        }
    }
    crc
}

fn time(second: i64) -> String {
    let (year, month, day) = toolgate_core::calendar::date(second.div_euclid(DAY));
    let clock = second.rem_euclid(DAY);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", clock / 3600, clock / 60 % 60, clock % 60)
}
