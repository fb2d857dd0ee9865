//! The shared variables of the step machine, as the lab explores it.

use alloc::{format, vec::Vec};

use super::{
    casts::{Cast, Casts},
    codecs::{ALIVE, CardCodec, DEAD, LifeCodec, NOBODY, SizeCodec, TagCodec},
    hall_kind::HallKind,
    model::ProcessesModel,
    normal,
    words::{Card, FREE, Phase, Size, Tag, after, waits_with},
};
use crate::framework::{
    layout::{Decl, Init, Kind, Layout},
    memory::Word,
};

impl ProcessesModel {
    /// Creates a hall of this kind.
    pub(super) fn with(casts: Casts, hall: HallKind, n: usize, k: usize) -> Self {
        let slots = hall.slots(casts, k);
        let many = hall.has_large_requests();
        let chooses = hall != HallKind::Plain || casts.has(Cast::Resize);
        let sizes: Vec<Word> = hall.sizes(casts, k).into_iter().map(Size::pack).collect();
        let epochs = sizes.last().map_or(0, |&last| Size::unpack(last).epoch + 1);
        let room = if chooses { n + n.div_ceil(2) } else { n };
        let mut layout = Layout::default();
        let next =
            layout.add(Decl::number("next", -2, normal::max_ticket(room) + 3, 1).unbounded());
        let quiet = layout.add(
            Decl::number("quiet", -2, normal::max_ticket(room) + 3, 1).unbounded().waited_on(),
        );
        let cards = Self::all_cards(many, room, slots);
        let number = after(waits_with(0));
        let idle = Card::new(Phase::Idle, number).pack();
        let card = layout.array(n, |p| {
            let name = format!("card[{p}]");
            let kind = Kind::custom(CardCodec);
            Decl::listed(name, kind, cards.clone(), Init::Is(idle)).unbounded().at(p)
        });
        let tags: Vec<Word> = (0..n)
            .flat_map(|process| {
                normal::tag_numbers(room, many).map(move |number| Tag { process, number }.pack())
            })
            .chain((0..epochs).map(|epoch| Tag::seal(epoch).pack()))
            .chain([FREE])
            .collect();
        let slot = layout.array(slots, |j| {
            let name = format!("slot[{j}]");
            let kind = Kind::custom(TagCodec);
            let is_gone = hall == HallKind::Shrunk && j == k;
            let init = if is_gone { Tag { process: 0, number }.pack() } else { FREE };
            Decl::listed(name, kind, tags.clone(), Init::Is(init)).unbounded()
        });
        let head = chooses.then(|| {
            let kind = Kind::custom(TagCodec);
            let heads = (0..n)
                .flat_map(|process| {
                    normal::head_numbers(room).map(move |number| Tag { process, number }.pack())
                })
                .chain([FREE])
                .collect();
            layout.add(Decl::listed("head", kind, heads, Init::Is(FREE)).unbounded())
        });
        let size = sizes.first().copied().map(|first| {
            let kind = Kind::custom(SizeCodec);
            layout.add(Decl::listed("size", kind, sizes, Init::Is(first)))
        });
        let link =
            layout.array(n, |p| Decl::number(format!("link[{p}]"), 0, n as Word, n as Word).at(p));
        let followed = layout.array(n, |p| Decl::flag(format!("followed[{p}]"), false).at(p));
        let bell = layout.array(n, |p| Decl::flag(format!("bell[{p}]"), false).at(p).waited_on());
        let life = layout.array(n, |p| {
            let (name, kind) = (format!("life[{p}]"), Kind::custom(LifeCodec));
            Decl::listed(name, kind, (NOBODY..=DEAD).collect(), Init::Is(ALIVE)).waited_on()
        });
        let clock = layout.add(Decl::flag("clock", false));
        let been = layout.array(n, |p| Decl::flag(format!("been[{p}]"), false).at(p));
        ProcessesModel {
            n,
            room,
            k,
            casts,
            hall,
            is_reduced: false,
            layout,
            next,
            quiet,
            card,
            slot,
            head,
            size,
            link,
            followed,
            bell,
            life,
            clock,
            been,
        }
    }

    fn all_cards(many: bool, room: usize, slots: usize) -> Vec<Word> {
        let given = (0..slots).flat_map(|j| [Phase::Granted(j), Phase::Unrung(j), Phase::In(j)]);
        let several = [Phase::Waiting(2), Phase::Asleep(2), Phase::GrantedMany, Phase::UnrungMany];
        let waiting = given
            .chain([Phase::Waiting(1), Phase::Asleep(1), Phase::Vacant])
            .chain(several.into_iter().filter(|_| many))
            .flat_map(|phase| normal::waiting_numbers(room).map(move |x| (phase, x)));
        let idle = [Phase::Idle, Phase::Vacant, Phase::Arriving]
            .into_iter()
            .flat_map(|phase| normal::idle_numbers(room).map(move |x| (phase, x)));
        waiting.chain(idle).map(|(phase, number)| Card::new(phase, number).pack()).collect()
    }
}
