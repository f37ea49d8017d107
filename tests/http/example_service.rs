//! `examples/service.py`: a service with accounts of its own.

use std::process::Command;

use crate::support::{TestServer, available};

#[test]
fn it_follows_sixteen_tables_and_prints_the_standings() {
    if !available(&["python3"]) {
        return;
    }
    let server = TestServer::start();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/service.py");
    let output = Command::new("python3")
        .args([script, &server.url()])
        .output()
        .expect("Python starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{stdout}\n{stderr}");
    assert_eq!(stderr, "");
    let tables = stdout.lines().filter(|line| line.starts_with("table "));
    assert_eq!(tables.count(), 16, "{stdout}");
    // Two of the four accounts at each table have won.
    let standings = stdout.lines().filter_map(|line| line.split_once(" won "));
    let numbers = standings.map(|(_, numbers)| {
        let (won, played) = numbers.split_once(" of ").expect(numbers);
        [won, played].map(|number| number.trim().parse::<usize>().expect(numbers))
    });
    let sums = numbers.fold([0, 0], |sums, numbers| {
        [sums[0] + numbers[0], sums[1] + numbers[1]]
    });
    assert_eq!(sums, [32, 64], "{stdout}");
    assert_eq!(
        include_str!("../../examples/service.py").lines().count(),
        80
    );
}
