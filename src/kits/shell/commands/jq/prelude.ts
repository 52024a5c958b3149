// Built-in functions that are written in jq itself, as jq 1.6 defines them. The rest is in `builtins.ts`.

import type { Definition } from './ast.ts'
import { parseDefinitions } from './parser.ts'

const PRELUDE = `
def recurse_down: recurse;
def to_entries: [keys_unsorted[] as $k | {key: $k, value: .[$k]}];
def from_entries: reduce .[] as $e ({}; . + {($e | (.key // .Key // .name // .Name)): ($e | if has("value") then .value else .Value end)});
def with_entries(f): to_entries | map(f) | from_entries;
def index($i): indices($i) | .[0];
def rindex($i): indices($i) | .[-1:][0];
def paths: path(recurse(if (type|. == "array" or . == "object") then .[] else empty end)) | select(length > 0);
def paths(node_filter): . as $dot | paths | select(. as $p | $dot | getpath($p) | node_filter);
def leaf_paths: paths(scalars);
def any(generator; condition): isempty(first(generator | condition and true | select(.))) | not;
def any(condition): any(.[]; condition);
def any: any(.);
def all(generator; condition): isempty(first(generator | condition and true | select(. | not)));
def all(condition): all(.[]; condition);
def all: all(.);
def arrays: select(type == "array");
def objects: select(type == "object");
def iterables: select(type | . == "array" or . == "object");
def booleans: select(type == "boolean");
def numbers: select(type == "number");
def normals: select(isnormal);
def finites: select(isfinite);
def strings: select(type == "string");
def nulls: select(type == "null");
def values: select(. != null);
def scalars: select(type | . != "array" and . != "object");
def scalars_or_empty: select(. == null or . == true or . == false or type == "number" or type == "string" or ((type == "array" or type == "object") and length == 0));
def isfinite: type == "number" and (isinfinite | not);
def fromdateiso8601: strptime("%Y-%m-%dT%H:%M:%SZ") | mktime;
def todateiso8601: strftime("%Y-%m-%dT%H:%M:%SZ");
def fromdate: fromdateiso8601;
def todate: todateiso8601;
def match(re; mode): _match(re; mode; false) | .[];
def test(re; mode): _match(re; mode; true);
def match($val): ($val | type) as $vt | if $vt == "string" then match($val; null) elif $vt == "array" and ($val | length) > 1 then match($val[0]; $val[1]) elif $vt == "array" and ($val | length) > 0 then match($val[0]; null) else error($vt + " not a string or array") end;
def test($val): ($val | type) as $vt | if $vt == "string" then test($val; null) elif $vt == "array" and ($val | length) > 1 then test($val[0]; $val[1]) elif $vt == "array" and ($val | length) > 0 then test($val[0]; null) else error($vt + " not a string or array") end;
def _captured: reduce (.captures | .[] | select(.name != null) | {(.name): .string}) as $pair ({}; . + $pair);
def capture(re; mods): match(re; mods) | _captured;
def capture($val): match($val) | _captured;
def scan(re): match(re; "g") | if (.captures | length > 0) then [.captures | .[] | .string] else .string end;
def splits($re; flags): . as $s | [match($re; "g" + flags) | (.offset, .offset + .length)] | [0] + . + [$s | length] | _nwise(2) | $s[.[0]:.[1]];
def splits($re): splits($re; null);
def split($re; flags): [splits($re; flags)];
def _nwise($n): if length <= $n then . else .[0:$n], (.[$n:] | _nwise($n)) end;
def _sub1($re; s; $fla): . as $in | [match($re; $fla)] | if length == 0 then $in else .[0] as $edit | ($edit | _captured) | $in[0:$edit.offset] + s + $in[$edit.offset + $edit.length:] end;
def _suball($re; s; $fla): . as $in | [match($re; $fla + "g")] | if length == 0 then $in else . as $edits | _pieces($in; $edits; [$edits[] | [_captured | s]]) end;
def sub($re; s; $flags): if ($flags | index("g")) then _suball($re; s; $flags) else _sub1($re; s; $flags) end;
def sub($re; s): sub($re; s; "");
def gsub($re; s; $flags): sub($re; s; $flags + "g");
def gsub($re; s): sub($re; s; "g");
def in(xs): . as $x | xs | has($x);
def inside(xs): . as $x | xs | contains($x);
def last(g): reduce g as $item (null; $item);
def nth($n; g): if $n < 0 then error("nth doesn't support negative indices") else last(limit($n + 1; g)) end;
def first: .[0];
def last: .[-1];
def nth($n): .[$n];
def combinations: if length == 0 then [] else .[0][] as $x | (.[1:] | combinations) as $y | [$x] + $y end;
def combinations(n): . as $dot | [range(n) | $dot] | combinations;
def walk(f): . as $in | if type == "object" then reduce keys_unsorted[] as $key ({}; . + {($key): ($in[$key] | walk(f))}) | f elif type == "array" then map(walk(f)) | f else f end;
def map_values(f): .[] |= f;
def inputs: _inputs;
def tostream: path(def r: (.[]?|r), .; r) as $p | getpath($p) | reduce path(.[]?) as $q ([$p, .]; [$p + $q]);
def fromstream(f): foreach f as $i ({x: null, e: false}; if .e then {x: null, e: false} else . end | if $i | length == 2 then setpath(["e"]; $i[0] | length == 0) | setpath(["x"] + $i[0]; $i[1]) else setpath(["e"]; $i[0] | length == 1) end; if .e then .x else empty end);
def truncate_stream(stream): . as $n | null | stream | . as $input | if (.[0] | length) > $n then setpath([0]; .[0][$n:]) else empty end;
def INDEX(stream; idx_expr): reduce stream as $row ({}; .[$row | idx_expr | tostring] |= $row);
def INDEX(idx_expr): INDEX(.[]; idx_expr);
def JOIN($idx; idx_expr): [.[] | [., $idx[idx_expr]]];
def JOIN($idx; stream; idx_expr): stream | [., $idx[idx_expr]];
def JOIN($idx; stream; idx_expr; join_expr): stream | [., $idx[idx_expr]] | join_expr;
def IN(s): any(s == .; .);
def IN(src; s): any(src == s; .);
def todate(f): strftime(f);
def ascii_downcase: _lower;
def ascii_upcase: _upper;
`

let known: Map<string, Definition> | null = null

export function preludeDefinition(name: string, arity: number): Definition | null {
  known ??= new Map(parseDefinitions(PRELUDE).map((one) => [`${one.name}/${one.params.length}`, one]))
  return known.get(`${name}/${arity}`) ?? null
}

export function preludeNames(): string[] {
  preludeDefinition('', 0)
  return [...(known?.keys() ?? [])].filter((name) => !name.startsWith('_'))
}
