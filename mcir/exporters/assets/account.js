// The memory table of one region.

function cells(table, tag, texts) {
  const row = table.insertRow();
  for (const text of texts) {
    const cell = document.createElement(tag);
    cell.textContent = text == null ? "" : text;
    if (cell.textContent.length > 34) cell.className = "formula";
    row.appendChild(cell);
  }
  return row;
}

function table(head, rows) {
  const made = document.createElement("table");
  if (head) cells(made, "th", head);
  for (const row of rows) cells(made, "td", row);
  return made;
}

function full(number) {
  return typeof number === "number" ? number.toLocaleString("en") : number;
}

function accountTables(region) {
  const least = region.compulsory.total;
  const ways = [["streaming", region.streaming], ["compulsory", region.compulsory], ["op by op", region.op_by_op]]
    .filter(([, way]) => way);
  const times = ([, way]) => (typeof way.total === "number" && least > 0 ? (way.total / least).toFixed(2) : "");
  const row = (key) => [key, ...ways.map(([, way]) => full(way[key]))];
  const tables = [table(["global bytes", ...ways.map(([name]) => name)],
    [row("read"), row("written"), row("total"), ["\u00d7 compulsory", ...ways.map(times)]])];
  const facts = [];
  if (region.streaming) {
    facts.push(["steps", `${full(region.steps)} of ${full(region.all_steps)}`], ["flops", full(region.flops)]);
    if (region.flops_per_byte != null) facts.push(["flops a byte", region.flops_per_byte.toFixed(1)]);
    facts.push(["shared, live in a tile", bytesText(region.live.shared)], ["registers, live in a tile", bytesText(region.live.register)]);
  }
  if (region.unknown.length) facts.push(["sizes without a value", region.unknown.join(", ")]);
  const summary = table(null, facts);
  for (const nest of region.tiles) {
    if (!nest.fit) continue;
    const verdict = { true: "fits", false: "does not fit", null: "depends on the sizes" };
    const row = cells(summary, "td", [`on ${nest.fit.target}`, `shared ${verdict[nest.fit.shared]}, registers ${verdict[nest.fit.registers]}`]);
    if (nest.fit.shared === false || nest.fit.registers === false) row.className = "bad";
  }
  tables.push(summary);
  for (const nest of region.tiles) {
    tables.push(table(["move", "tensor", "phase", "a trip", "trips", "bytes"], nest.moves.map((move) => [
      `@${move.node}`, `%${move.tensor}`, move.phase, bytesText(move.bytes_per_trip), full(move.trips), full(move.bytes)])));
  }
  return tables;
}
