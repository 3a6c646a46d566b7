// The nest of one region as a picture: global tensors, the stream, the tile, its phases, ops and values.

const PHASES = [["prologue", "once a query tile"], ["body", "for each visible key tile"], ["epilogue", "after the last key tile"]];

function bytesText(bytes) {
  if (typeof bytes !== "number") return clipped(String(bytes), 24) + " B";
  for (const [unit, size] of [["GiB", 2 ** 30], ["MiB", 2 ** 20], ["KiB", 2 ** 10]]) {
    if (bytes >= size) return `${Number((bytes / size).toFixed(bytes % size ? 2 : 0))} ${unit}`;
  }
  return `${bytes} B`;
}

function countText(count) {
  return typeof count === "number" ? count.toLocaleString("en") : clipped(String(count), 28);
}

function shortType(type) {
  return type.replace(/^tensor<|>$/g, "").replace(/, (shared|register)$/, "");
}

// {nodes, edges, notes} of a region; notes: the text behind each box.
function nestPicture(region) {
  const notes = new Map();
  const nodes = [], edges = [];
  const inside = [];
  region.nests.forEach((nest, at) => inside.push(streamBox(region, nest, region.tiles[at], `n${at}`, edges, notes)));
  const tensors = [...region.inputs.map((value) => [value, "in:"]), ...region.outputs.map((value) => [value, "out:"])];
  for (const [value, side] of tensors) {
    const id = side + value.name;
    notes.set(id, `%${value.name}: ${value.type}`);
    nodes.push({ id, text: [`%${value.name}`, shortType(value.type)], kind: "global", round: true });
  }
  if (!inside.length) {
    inside.push({ id: "unlowered", text: ["not lowered yet"], kind: "" });
    region.inputs.forEach((value, at) => edges.push({ id: `i${at}`, from: "in:" + value.name, to: "unlowered" }));
    region.outputs.forEach((value, at) => edges.push({ id: `o${at}`, from: "unlowered", to: "out:" + value.name }));
  }
  const lines = Object.entries(region.attrs).map(([key, text]) => `${key} = ${text}`);
  notes.set("execution", `execution @${region.region}\n${lines.join("\n")}`);
  nodes.push({ id: "execution", text: [`execution @${region.region}`], kind: "execution", children: inside });
  return { nodes, edges, notes };
}

function streamBox(region, nest, tile, prefix, edges, notes) {
  const moves = new Map(tile.moves.map((move) => [move.node, move]));
  const sizes = new Map(tile.values.map((value) => [value.value, value.bytes]));
  const made = new Map();
  const phases = PHASES.map(([phase, when]) => {
    const members = nest.nodes.filter((node) => node.phase === phase);
    const children = members.flatMap((node) => opBoxes(node, prefix, sizes, made, notes));
    return { id: `${prefix}:${phase}`, text: [phase, when], kind: "phase", children };
  }).filter((box) => box.children.length);
  for (const node of nest.nodes) connect(node, prefix, moves.get(node.name), sizes, made, edges);
  notes.set(`${prefix}:tile`, `tile @${tile.tile}: tile_m = ${tile.tile_m}, tile_n = ${tile.tile_n}`);
  notes.set(`${prefix}:stream`, `streaming @${nest.stream}: stream_axis = ${nest.axis}`);
  const title = `tile @${tile.tile} ${tile.tile_m} x ${tile.tile_n}`;
  return {
    id: `${prefix}:stream`, text: [`streaming @${nest.stream} along ${nest.axis}`], kind: "streaming",
    children: [{ id: `${prefix}:tile`, text: [title], kind: "tile", children: phases }],
  };
}

// The op and its on-chip results; a result in global memory is the region's own output.
function opBoxes(node, prefix, sizes, made, notes) {
  const id = `${prefix}/${node.name}`;
  notes.set(id, node.text);
  const boxes = [{ id, text: [node.op, `@${node.name}`], kind: "op" }];
  for (const value of node.outputs) {
    if (value.residency === "global") continue;
    const valueId = `${prefix}%${value.name}`;
    made.set(value.name, valueId);
    notes.set(valueId, `%${value.name}: ${value.type}\n${countText(sizes.get(value.name))} bytes`);
    const lines = [`%${value.name}`, `${shortType(value.type)}, ${bytesText(sizes.get(value.name))}`];
    boxes.push({ id: valueId, text: lines, kind: value.residency, round: true });
  }
  return boxes;
}

function connect(node, prefix, move, sizes, made, edges) {
  const id = `${prefix}/${node.name}`;
  const add = (from, to, label, moves) => edges.push({ id: `e${edges.length}${prefix}`, from, to, label, moves });
  const trip = move && `${bytesText(move.bytes_per_trip)} x ${countText(move.trips)}`;
  if (move && move.direction === "read") add(`in:${move.tensor}`, id, trip, true);
  for (const name of node.inputs) if (made.has(name)) add(made.get(name), id, bytesText(sizes.get(name)), false);
  for (const value of node.outputs) if (made.has(value.name)) add(id, made.get(value.name), "", false);
  if (move && move.direction === "write") add(id, `out:${move.tensor}`, trip, true);
}
