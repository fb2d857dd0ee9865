//! Rounds over all measurements of the cluster.

use std::{fs, iter, path::PathBuf, thread};

use hallpass_testbed::EtcdCluster;

use super::{
    behaviour::TRIALS,
    handover, herd, idle,
    race::{self, CROWDS, Race, Succession},
    report::{Part, Report},
    setting::{Engine, Setting},
    wrapper::Wrapper,
};
use crate::common::{cores, quartiles::Quartiles, rounds::Steps};

/// A measurement to make.
#[derive(Debug)]
pub struct Plan {
    /// The parts to measure.
    pub parts: Vec<Part>,
    /// The stores to measure on. [`Part::Race`] and [`Part::Behaviour`] are measured on etcd only, and
    /// [`Part::Behaviour`] only on the first setting of etcd. [`Part::Herd`] is measured on the first setting of each
    /// engine. [`Part::Idle`] is also measured on one setting of each engine: the first of those with the most members.
    pub settings: Vec<Setting>,
    /// Number of rounds.
    pub rounds: usize,
    /// The numbers of waiters in the queue when a slot is released.
    pub herds: Vec<usize>,
    /// The numbers of commands that wait on etcd and on PostgreSQL.
    pub waiting: [usize; 2],
    /// Number of passages in a round, divided among the competing loops of a [`race`].
    pub passages: usize,
    /// The program `hallpass`.
    pub program: PathBuf,
    /// An earlier version of `hallpass`, to compare with.
    pub before: Option<PathBuf>,
}

/// The numbers of slots of the halls of [`Part::Herd`].
const HERD_SLOTS: [usize; 2] = [1, 4];

impl Plan {
    /// Returns the number of [steps](Steps) that [`run`](Plan::run) makes.
    pub fn steps(&self) -> usize {
        let clusters = self.clusters().count();
        let first = clusters.min(1);
        let steps = |part: &Part| match part {
            Part::Handover => self.settings.len(),
            Part::Idle => self.first_of_each_engine().count(),
            Part::Herd => self.first_of_each_engine().count() * HERD_SLOTS.len() * self.herds.len(),
            Part::Race => clusters * (CROWDS.len() + 1) * self.rounds,
            Part::Behaviour => first * TRIALS.len(),
        };
        self.parts.iter().map(steps).sum()
    }

    /// Returns the settings of etcd.
    fn clusters(&self) -> impl Iterator<Item = &Setting> {
        self.settings.iter().filter(|setting| setting.engine == Engine::Etcd)
    }

    fn first_of_each_engine(&self) -> impl Iterator<Item = &Setting> {
        let first = |engine| self.settings.iter().find(move |setting| setting.engine == engine);
        [Engine::Etcd, Engine::Postgres].into_iter().filter_map(first)
    }

    /// Measures step by step.
    ///
    /// # Errors
    /// Returns the reason if a measurement fails.
    pub fn run(&self, steps: &mut Steps<'_>) -> Result<Report, String> {
        let mut report =
            Report { cores: cores(), load: vec![load()], rounds: self.rounds, ..Report::default() };
        for part in &self.parts {
            match part {
                Part::Handover => self.hand_over(steps, &mut report)?,
                Part::Idle => self.idle(steps, &mut report)?,
                Part::Herd => self.herd(steps, &mut report)?,
                Part::Race => self.race(steps, &mut report)?,
                Part::Behaviour => self.behave(steps, &mut report)?,
            }
            report.load.push(load());
        }
        report.complete = !steps.stopped();
        Ok(report)
    }

    fn hand_over(&self, steps: &mut Steps<'_>, report: &mut Report) -> Result<(), String> {
        for setting in &self.settings {
            if !steps.begin(|| format!("handing over, {setting}")) {
                break;
            }
            let (program, before) = (&self.program, self.before.as_deref());
            report.handovers.push(handover::measure(*setting, self.rounds, program, before)?);
        }
        Ok(())
    }

    fn idle(&self, steps: &mut Steps<'_>, report: &mut Report) -> Result<(), String> {
        for first in self.first_of_each_engine() {
            let same = self.settings.iter().filter(|setting| setting.engine == first.engine);
            let most = same.clone().map(|setting| setting.members).max();
            let Some(setting) = same.clone().find(|one| Some(one.members) == most) else {
                continue;
            };
            let waiting = match setting.engine {
                Engine::Etcd => self.waiting[0],
                Engine::Postgres => self.waiting[1],
            };
            if steps.begin(|| format!("{waiting} commands wait, {setting}")) {
                report.idle.push(idle::measure(*setting, waiting, &self.program)?);
            }
        }
        Ok(())
    }

    fn herd(&self, steps: &mut Steps<'_>, report: &mut Report) -> Result<(), String> {
        for setting in self.first_of_each_engine() {
            let store = setting.start_store();
            for k in HERD_SLOTS {
                for waiting in &self.herds {
                    if steps.begin(|| format!("{waiting} waiters, k = {k}, {setting}")) {
                        let herd = herd::measure(&store, *setting, k, *waiting, self.rounds)?;
                        report.herds.push(herd);
                    }
                }
            }
        }
        Ok(())
    }

    fn wrappers(&self) -> [Wrapper; 2] {
        [Wrapper::Hallpass(self.program.clone()), Wrapper::Etcdctl]
    }

    fn race(&self, steps: &mut Steps<'_>, report: &mut Report) -> Result<(), String> {
        for setting in self.clusters() {
            let cluster = setting.start();
            for loops in CROWDS {
                report.races.extend(self.passages(steps, &cluster, *setting, loops)?);
            }
            report.successions.extend(self.successions(steps, &cluster, *setting)?);
        }
        Ok(())
    }

    /// Measures the passages of both wrappers alternately.
    fn passages(
        &self,
        steps: &mut Steps<'_>,
        cluster: &EtcdCluster,
        setting: Setting,
        loops: usize,
    ) -> Result<Option<Race>, String> {
        let mut samples: [Vec<f64>; 2] = Default::default();
        let each = self.passages.div_ceil(loops);
        for _ in 0..self.rounds {
            if !steps.begin(|| format!("passages of {loops} loops, {setting}")) {
                break;
            }
            for (wrapper, samples) in iter::zip(self.wrappers(), &mut samples) {
                samples.push(race::passages(cluster, &wrapper, loops, each)?);
            }
        }
        let [ours, theirs] = samples;
        let ratios: Vec<f64> =
            iter::zip(&ours, &theirs).map(|(ours, theirs)| ours / theirs).collect();
        let [ours, theirs, ratio] = [ours, theirs, ratios].map(Quartiles::of);
        let all = ours.zip(theirs).zip(ratio);
        Ok(all.map(|((ours, theirs), ratio)| Race { setting, loops, ours, theirs, ratio }))
    }

    /// Measures the gaps between commands, with many competing loops.
    fn successions(
        &self,
        steps: &mut Steps<'_>,
        cluster: &EtcdCluster,
        setting: Setting,
    ) -> Result<Vec<Succession>, String> {
        let loops = CROWDS[CROWDS.len() - 1];
        let mut samples: [(Vec<f64>, usize); 2] = Default::default();
        for _ in 0..self.rounds {
            if !steps.begin(|| format!("successions of {loops} loops, {setting}")) {
                break;
            }
            for (wrapper, (gaps, overlaps)) in iter::zip(self.wrappers(), &mut samples) {
                let (more_gaps, more) = race::between(&race::stays(cluster, &wrapper, loops, 1)?);
                gaps.extend(more_gaps);
                *overlaps += more;
            }
        }
        let succession = |(wrapper, (gaps, overlaps)): (Wrapper, (Vec<f64>, usize))| {
            let time = Quartiles::of(gaps)?;
            Some(Succession { setting, wrapper, loops, time, overlaps })
        };
        Ok(iter::zip(self.wrappers(), samples).filter_map(succession).collect())
    }

    fn behave(&self, steps: &mut Steps<'_>, report: &mut Report) -> Result<(), String> {
        let Some(first) = self.clusters().next() else { return Ok(()) };
        let cluster = &first.start();
        // The trials are not timed and mostly wait, so they all run at the same time.
        thread::scope(|scope| {
            let mut runs = Vec::new();
            for trial in TRIALS {
                if !steps.begin(|| trial.expectation().into()) {
                    break;
                }
                let run = |wrapper| scope.spawn(move || trial.run(cluster, &wrapper));
                runs.extend(self.wrappers().map(run));
            }
            for run in runs {
                report.behaviours.push(run.join().map_err(|_| "a trial panicked")??);
            }
            Ok(())
        })
    }
}

/// Returns the load average of the last minute.
fn load() -> f64 {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().next().and_then(|word| word.parse().ok()).unwrap_or(f64::NAN)
}
