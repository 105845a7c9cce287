// The nodes of a syntax tree in source order, as tree-sitter's own cursor would meet them.
//
// The cursor can go any way, and pays for it at every step: it finds its place among its siblings anew, keeps rows and
// columns, and steps onto tokens that nobody asks for. This goes forward alone. It reads the tree through tree-sitter's own
// headers, so that what changes there is noticed when it is built; a test compares it with the cursor.

#include "language.h"
#include "tree.h"

// A node whose children are being met, or one without a name of its own, whose children stand in for it.
typedef struct {
  const Subtree *next;
  const Subtree *end;
  const TSSymbol *aliases;
  const TSFieldMapEntry *fields;
  const TSFieldMapEntry *fields_end;
  // Where the next child begins.
  uint32_t at;
  // The place of the next child in its production, in which comments and the like have none.
  uint32_t place;
  // The field of a node that its children stand in for.
  TSFieldId field;
  bool is_node;
} Frame;

typedef struct {
  Array(Frame) frames;
  const TSLanguage *language;
  // By the grammar's numbers of kinds.
  const uint8_t *is_dropped;
  uint32_t n_kinds;
  // The node that was met last, and where it begins.
  Subtree last;
  uint32_t from;
} Steps;

typedef struct {
  uint32_t from;
  uint32_t to;
  uint32_t n_named_children;
  // Nodes gone into of which all children were met since the node before.
  uint32_t n_closed;
  uint16_t kind;
  uint16_t field;
  bool is_missing;
} Met;

static void push(Steps *self, Subtree parent, uint32_t at, TSFieldId field, bool is_node) {
  uint32_t n_children = ts_subtree_child_count(parent);
  if (n_children == 0) {
    static const Subtree none;
    array_push(&self->frames, ((Frame) {.next = &none, .end = &none, .is_node = is_node}));
    return;
  }
  Frame frame = {
    .next = ts_subtree_children(parent),
    .end = ts_subtree_children(parent) + n_children,
    .aliases = ts_language_alias_sequence(self->language, parent.ptr->production_id),
    .at = at,
    .field = field,
    .is_node = is_node,
  };
  ts_language_field_map(self->language, parent.ptr->production_id, &frame.fields, &frame.fields_end);
  array_push(&self->frames, frame);
}

static TSFieldId field_of(const Frame *frame, uint32_t place) {
  for (const TSFieldMapEntry *it = frame->fields; it < frame->fields_end; it++) {
    if (!it->inherited && it->child_index == place) return it->field_id;
  }
  return frame->field;
}

static void meet(Steps *self, Subtree tree, uint32_t from, TSSymbol kind, TSFieldId field, Met *met) {
  self->last = tree;
  self->from = from;
  met->from = from;
  met->to = from + ts_subtree_size(tree).bytes;
  met->n_named_children = ts_subtree_child_count(tree) > 0 ? tree.ptr->named_child_count : 0;
  met->kind = kind;
  met->field = field;
  met->is_missing = ts_subtree_missing(tree);
}

// The root is met at once.
Steps *knowing_steps_new(const TSTree *tree, const uint8_t *is_dropped, uint32_t n_kinds, Met *met) {
  Steps *self = ts_calloc(1, sizeof(Steps));
  self->language = tree->language;
  self->is_dropped = is_dropped;
  self->n_kinds = n_kinds;
  TSSymbol kind = ts_language_public_symbol(self->language, ts_subtree_symbol(tree->root));
  met->n_closed = 0;
  meet(self, tree->root, ts_subtree_padding(tree->root).bytes, kind, 0, met);
  return self;
}

void knowing_steps_delete(Steps *self) {
  array_delete(&self->frames);
  ts_free(self);
}

// The next node that is not dropped, below the last one if that is gone into; false when there is none.
bool knowing_steps_next(Steps *self, bool into, Met *met) {
  if (into) push(self, self->last, self->from, 0, true);
  met->n_closed = 0;
  while (self->frames.size > 0) {
    Frame *frame = array_back(&self->frames);
    if (frame->next == frame->end) {
      met->n_closed += frame->is_node;
      self->frames.size--;
      continue;
    }
    Subtree child = *frame->next++;
    uint32_t from = frame->at;
    frame->at += ts_subtree_size(child).bytes;
    if (frame->next != frame->end) frame->at += ts_subtree_padding(*frame->next).bytes;
    bool is_extra = ts_subtree_extra(child);
    uint32_t place = frame->place;
    frame->place += !is_extra;
    TSSymbol alias = frame->aliases && !is_extra ? frame->aliases[place] : 0;
    if (!alias && !ts_subtree_visible(child)) {
      if (ts_subtree_visible_child_count(child) > 0) {
        push(self, child, from, is_extra ? 0 : field_of(frame, place), false);
      }
      continue;
    }
    TSSymbol kind = ts_language_public_symbol(self->language, alias ? alias : ts_subtree_symbol(child));
    // What is missing is told, whatever it is.
    if (kind < self->n_kinds && self->is_dropped[kind] && !ts_subtree_missing(child)) continue;
    TSFieldId field = is_extra ? 0 : field_of(frame, place);
    meet(self, child, from, kind, field, met);
    return true;
  }
  return false;
}
