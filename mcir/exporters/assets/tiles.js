// The map of one nest: a row for each query tile, a column for each key tile, filled where it is visited.

class TileMap {
  constructor(canvas, note, button) {
    this.canvas = canvas;
    this.note = note;
    this.button = button;
    canvas.addEventListener("mousemove", (event) => this.point(event));
    canvas.addEventListener("mouseleave", () => { this.row = null; this.draw(); });
    button.addEventListener("click", () => (this.timer ? this.stop() : this.play()));
    new ResizeObserver(() => this.draw()).observe(canvas);
  }

  show(region) {
    this.stop();
    const nest = region.nests[0];
    this.map = nest ? nest.map : null;
    this.tile = region.tiles[0];
    this.row = null;
    this.step = null;
    this.button.hidden = !this.map;
    this.canvas.parentElement.classList.toggle("empty", !this.map);
    if (!nest) this.note.textContent = "not lowered: no tiles yet";
    else if (!this.map) this.note.textContent = `sizes without a value: ${region.unknown.join(", ")}; give --dim NAME=SIZE`;
    this.draw();
  }

  draw() {
    const { canvas, map } = this;
    const scale = window.devicePixelRatio || 1;
    const style = getComputedStyle(canvas);
    canvas.width = Math.max(1, Math.round((canvas.clientWidth - 20) * scale));
    canvas.height = Math.max(1, Math.round((canvas.clientHeight - 8) * scale));
    if (!map || !map.columns || !map.visits.length) return;
    const brush = canvas.getContext("2d");
    const shown = map.visits.length;
    const cell = Math.min(canvas.width / map.columns, canvas.height / shown, 28 * scale);
    this.cell = { width: cell < 1 ? canvas.width / map.columns : cell, height: cell < 1 ? canvas.height / shown : cell };
    const { width, height } = this.cell;
    const gap = Math.min(width, height) > 5 * scale ? scale : 0;
    brush.fillStyle = style.getPropertyValue("--global");
    brush.fillRect(0, 0, width * map.columns, height * shown);
    map.visits.forEach((intervals, row) => {
      brush.fillStyle = style.getPropertyValue(row === this.row ? "--hit" : "--shared-line");
      for (const [first, end] of intervals) {
        if (!gap) brush.fillRect(first * width, row * height, (end - first) * width, Math.max(height, 0.6));
        else for (let at = first; at < end; at++) brush.fillRect(at * width, row * height, width - gap, height - gap);
      }
    });
    if (this.step) {
      brush.fillStyle = style.getPropertyValue("--register-line");
      brush.fillRect(this.step[1] * width, this.step[0] * height, Math.max(width - gap, 2), Math.max(height - gap, 2));
    }
    if (this.row == null) this.summary();
  }

  summary() {
    const { map, tile } = this;
    const cut = map.rows > map.visits.length ? `; the first ${map.visits.length} rows are drawn` : "";
    const count = map.visits.reduce((sum, row) => sum + row.reduce((all, [first, end]) => all + end - first, 0), 0);
    this.note.textContent = `${map.rows} query tiles of ${tile.tile_m} rows, ${map.columns} key tiles of ${tile.tile_n} keys: `
      + `${count.toLocaleString("en")} of ${(map.visits.length * map.columns).toLocaleString("en")} visited${cut}`;
  }

  point(event) {
    if (!this.map || !this.cell) return;
    const box = this.canvas.getBoundingClientRect();
    const scale = window.devicePixelRatio || 1;
    this.select(Math.floor(((event.clientY - box.top) * scale) / this.cell.height));
  }

  select(row) {
    const intervals = this.map.visits[row];
    this.row = intervals ? row : null;
    this.draw();
    if (!intervals) return;
    const rows = `rows ${row * this.tile.tile_m} to ${Math.min(this.map.queries, (row + 1) * this.tile.tile_m) - 1}`;
    const tiles = intervals.map(([first, end]) => `${first} to ${end - 1}`).join(", ") || "none";
    this.note.textContent = `query tile ${row} (${rows}): key tiles ${tiles}`;
  }

  play() {
    if (!this.map) return;
    const steps = this.map.visits.flatMap((intervals, row) =>
      intervals.flatMap(([first, end]) => Array.from({ length: Math.min(end - first, 64) }, (_, at) => [row, first + at])));
    let at = 0;
    this.button.textContent = "stop";
    this.timer = setInterval(() => {
      if (at >= steps.length) { this.stop(); return; }
      this.step = steps[at++];
      this.select(this.step[0]);
    }, Math.max(16, Math.min(120, 8000 / steps.length)));
  }

  stop() {
    clearInterval(this.timer);
    this.timer = null;
    this.step = null;
    this.row = null;
    this.button.textContent = "play";
    if (this.map) this.draw();
  }
}
