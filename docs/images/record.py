#!/usr/bin/env python3
"""Records a command in a terminal (needs tmux) as an animated SVG.

    docs/images/record.py 'hallpass demo' docs/images/demo.svg --columns 84 --rows 20 --seconds 12

The command runs for real, in a terminal of tmux. A line of text that stays the same over several frames is
written to the file once, with the time for which it is visible.
"""
import argparse, html, re, subprocess, time

CHARACTER, LINE, MARGIN = 8.4, 19, 16
COLOURS = {"39": "#e6edf3", "38;5;9": "#ff7b72", "38;5;10": "#3fb950", "31": "#ff7b72", "32": "#3fb950",
           "33": "#d29922", "36": "#39c5cf", "2": "#8b949e", "90": "#8b949e"}


def tmux(*words):
    return subprocess.run(["tmux", "-L", "record", *words], capture_output=True, text=True, check=True).stdout


def record(command, columns, rows, seconds, interval):
    """Returns (seconds since the start, lines) for each frame."""
    tmux("-f", "/dev/null", "new-session", "-d", "-x", str(columns), "-y", str(rows), "env PS1='$ ' bash --norc")
    tmux("set", "-g", "status", "off")
    time.sleep(1)
    frames = []

    def snap():
        lines = tmux("capture-pane", "-e", "-p").rstrip("\n").split("\n")
        frames.append((time.monotonic() - start, spans(lines) + [""] * (rows - len(lines))))

    tmux("send-keys", "-l", command)
    time.sleep(0.3)
    start = time.monotonic()
    snap()
    tmux("send-keys", "Enter")
    while time.monotonic() - start < seconds:
        time.sleep(interval)
        snap()
    tmux("kill-server")
    return frames


def spans(lines):
    """Converts the terminal's colour and bold codes to SVG elements. A code applies until another one changes it."""
    colour, bold, result = "39", False, []
    for line in lines:
        out = ""
        for codes, text in re.findall(r"(?:\x1b\[([\d;]*)m)|([^\x1b]+)", line):
            if text:
                weight = ' font-weight="bold"' if bold else ""
                fill = "" if colour == "39" else f' fill="{COLOURS.get(colour, COLOURS["39"])}"'
                text = html.escape(text, quote=False).replace(" ", "\u00a0")  # SVG collapses spaces
                out += f"<tspan{fill}{weight}>{text}</tspan>" if fill or weight else text
            elif codes in ("0", ""):
                colour, bold = "39", False
            elif codes in ("1", "22"):
                bold = codes == "1"
            elif codes != "49":
                colour = codes
        result.append(out)
    return result


def svg(frames, columns, rows, hold, poster):
    total = frames[-1][0] + hold
    width, height = columns * CHARACTER + 2 * MARGIN, rows * LINE + 2 * MARGIN
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" width="{width:.0f}" '
           f'height="{height}" font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, \'DejaVu Sans Mono\', monospace" '
           f'font-size="14" fill="{COLOURS["39"]}">',
           f'<rect width="100%" height="100%" rx="8" fill="#0d1117" stroke="#30363d"/>']
    for row in range(rows):
        begin = 0
        for index, (_, lines) in enumerate(frames):
            last = index + 1 == len(frames)
            if not last and frames[index + 1][1][row] == lines[row]:
                continue
            since = 0 if begin == 0 else frames[begin][0]
            until = total if last else frames[index + 1][0]
            if lines[row].strip():
                shown = begin <= poster * len(frames) < index + 1
                y = MARGIN + LINE * row + 14
                out.append(f'<text x="{MARGIN}" y="{y}" display="{"inline" if shown else "none"}">{lines[row]}'
                           + animate(since / total, until / total, total) + "</text>")
            begin = index + 1
    return "\n".join(out + ["</svg>"]) + "\n"


def animate(since, until, total):
    values, times = ["inline"], ["0"]
    if since > 0:
        values, times = ["none", "inline"], ["0", f"{since:.4f}"]
    if until < 1:
        values, times = values + ["none"], times + [f"{until:.4f}"]
    return (f'<animate attributeName="display" calcMode="discrete" dur="{total:.1f}s" repeatCount="indefinite" '
            f'values="{";".join(values)}" keyTimes="{";".join(times)}"/>')


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("command")
    parser.add_argument("file")
    parser.add_argument("--columns", type=int, default=84)
    parser.add_argument("--rows", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=12, help="how many seconds to record")
    parser.add_argument("--interval", type=float, default=0.2, help="seconds between two frames")
    parser.add_argument("--hold", type=float, default=5, help="how many seconds the last frame stays")
    parser.add_argument("--poster", type=float, default=0.5,
                        help="the frame that a still picture shows: 0 is the first, 0.5 is in the middle")
    args = parser.parse_args()
    frames = record(args.command, args.columns, args.rows, args.seconds, args.interval)
    with open(args.file, "w") as file:
        file.write(svg(frames, args.columns, args.rows, args.hold, args.poster))
