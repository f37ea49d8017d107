//! The shell that outlives this process long enough to clean up.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    os::unix::process::CommandExt,
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Stdio},
};

use crate::programs::Programs;

/// A shell that runs the server of one folder. When this process ends, or this is dropped, it stops
/// the server and removes the folder.
#[derive(Debug)]
pub(crate) struct Supervisor {
    shell: Child,
    orders: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Supervisor {
    pub fn spawn(programs: &Programs, folder: &Path) -> Supervisor {
        let script = folder.join("supervisor.sh");
        fs::write(&script, include_str!("supervisor.sh")).expect("to write into the folder");
        let mut shell = programs
            .run_as_user("sh", folder)
            .arg(script)
            .args([&programs.folder, folder])
            // A terminal's ^C is for the tests alone.
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a shell");
        Supervisor {
            orders: shell.stdin.take(),
            answers: BufReader::new(shell.stdout.take().expect("a piped stdout")),
            shell,
        }
    }

    /// Gives an order, which is the name of a function in the script, and tells whether it was
    /// carried out. The script bounds the time that takes.
    pub fn order(&mut self, order: &str) -> bool {
        let mut answer = String::new();
        let orders = self.orders.as_mut().expect("it is open until dropped");
        writeln!(orders, "{order}").expect("the supervisor listens");
        self.answers.read_line(&mut answer).expect("an answer");
        answer == "yes\n"
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        drop(self.orders.take());
        let _ = self.shell.wait();
    }
}
