//! Files of every format, small and made here, whole and hostile.

use std::io::{Cursor, Write};

use zip::{ZipWriter, write::SimpleFileOptions};

pub fn docx(paragraphs: &[&str]) -> Vec<u8> {
    let paragraph = |text: &&str| format!("<w:p><w:r><w:t xml:space=\"preserve\">{text}</w:t></w:r></w:p>");
    let body: String = paragraphs.iter().map(paragraph).collect();
    archive("word/document.xml", format!("<w:document xmlns:w=\"w\"><w:body>{body}</w:body></w:document>").as_bytes())
}

fn archive(name: &str, content: &[u8]) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    archive.start_file(name, SimpleFileOptions::default()).unwrap();
    archive.write_all(content).unwrap();
    archive.finish().unwrap().into_inner()
}

/// Small, and enormous when unpacked.
pub fn docx_bomb() -> Vec<u8> {
    archive("word/document.xml", &vec![b' '; 200 << 20])
}

/// A document without text among so many other files.
#[allow(dead_code, reason = "not every test looks at growth")]
pub fn archive_of(files: usize) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for number in 0..files {
        archive.start_file(format!("word/{number}.xml"), SimpleFileOptions::default()).unwrap();
    }
    archive.start_file("word/document.xml", SimpleFileOptions::default()).unwrap();
    archive.finish().unwrap().into_inner()
}

/// A page at the end of a chain of so many trees, or the same page so many times.
#[allow(dead_code, reason = "not every test looks at growth")]
pub fn pdf_tree(times: usize, is_chain: bool) -> Vec<u8> {
    let page = times + 2;
    let mut objects = vec!["<</Type/Catalog/Pages 2 0 R>>".to_owned()];
    for number in 2..page {
        let kids = match is_chain {
            true => format!("{} 0 R", number + 1),
            false => format!("{page} 0 R ").repeat(if number == 2 { times } else { 1 }),
        };
        objects.push(format!("<</Type/Pages/Count {times}/Kids[{kids}]>>"));
    }
    objects.push(format!("<</Type/Page/Parent 2 0 R/Contents {} 0 R>>", page + 1));
    objects.push("<</Length 5>>stream\nBT ET\nendstream".to_owned());
    written(&objects)
}

/// One page for each text.
pub fn pdf(pages: &[&str]) -> Vec<u8> {
    let kids: Vec<String> = (0..pages.len()).map(|n| format!("{} 0 R", 4 + 2 * n)).collect();
    let mut objects = vec![
        "<</Type/Catalog/Pages 2 0 R>>".to_owned(),
        format!("<</Type/Pages/Count {}/Kids[{}]>>", pages.len(), kids.join(" ")),
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>".to_owned(),
    ];
    for (n, text) in pages.iter().enumerate() {
        let content = format!("BT /F1 12 Tf 72 720 Td ({text}) Tj ET");
        objects.push(format!(
            "<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</Font<</F1 3 0 R>>>>/Contents {} 0 R>>",
            5 + 2 * n
        ));
        objects.push(format!("<</Length {}>>stream\n{content}\nendstream", content.len()));
    }
    written(&objects)
}

fn written(objects: &[String]) -> Vec<u8> {
    let mut file = b"%PDF-1.4\n".to_vec();
    let mut places = Vec::new();
    for (n, object) in objects.iter().enumerate() {
        places.push(file.len());
        file.extend(format!("{} 0 obj\n{object}\nendobj\n", n + 1).bytes());
    }
    let table = file.len();
    file.extend(format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1).bytes());
    for place in places {
        file.extend(format!("{place:010} 00000 n \n").bytes());
    }
    file.extend(format!("trailer<</Size {}/Root 1 0 R>>\nstartxref\n{table}\n%%EOF", objects.len() + 1).bytes());
    file
}
