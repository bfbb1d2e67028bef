/* Probe the endgame tables of Russian draughts. shashki_probe.h is the reference, docs/probe.md the guide.
 *
 * Sections: errors, board, captures, index, cache, set of tables, table files, frames, opening, values, moves
 *
 * "Own" is the side to move, "other" its opponent. The board is rotated if Black moves: own men move up.
 *
 * Threads. All threads share a set of tables. Only the text of the last error belongs to a thread. There are
 * no locks. The thread that first needs an open table, an array of block numbers or a workspace creates it
 * and publishes it by one compare-and-swap. If two threads create the same object, the second one frees its
 * own. The section "cache" describes how threads share frames.
 */
#if !defined(_POSIX_C_SOURCE) || _POSIX_C_SOURCE < 200809L
#undef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#ifndef _FILE_OFFSET_BITS
#define _FILE_OFFSET_BITS 64
#endif

#include "shashki_probe.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>
#include <zstd.h>

#ifndef __GNUC__
#error "this library needs a compiler with the __atomic builtins: gcc or clang"
#endif

/* The memory orders of C11. The builtins make them available to C99. */
#define LOAD_ACQUIRE(object) __atomic_load_n(object, __ATOMIC_ACQUIRE)
#define STORE_RELEASE(object, value) __atomic_store_n(object, value, __ATOMIC_RELEASE)
#define LOAD_RELAXED(object) __atomic_load_n(object, __ATOMIC_RELAXED)
#define STORE_RELAXED(object, value) __atomic_store_n(object, value, __ATOMIC_RELAXED)
#define FETCH_ADD(object, value) __atomic_fetch_add(object, value, __ATOMIC_RELAXED)
#define COMPARE_EXCHANGE(object, expected, value) \
    __atomic_compare_exchange_n(object, expected, value, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)

#define LIKELY(condition) __builtin_expect(!!(condition), 1)
#define ALWAYS_INLINE static inline __attribute__((always_inline))

enum {
    SQUARES = 32,
    MEN_SQUARES = 28, /* squares of a man: all but the row where it promotes */
    MAX_PIECES = 10,  /* of a table; tables of more pieces are far too large to generate */
    MAX_KIND = 9,     /* of one kind in a table; the other side has at least one piece */
    METRICS = 4,
    WDL = 0, /* DTC, DTW and DTB are in the order of the bits SHASHKI_DTC, SHASHKI_DTW and SHASHKI_DTB */
    DTC = 1,
    DTW = 2,
    DTB = 3,
    KING_MOVES_PLIES = 30, /* without a capture or a man move: a draw under both rulesets */
    HEADER_SIZE = 128,
    FORMAT_VERSION = 2,
    MAX_FRAME_SIZE = 65536,
    INLINE_ITEMS = 128, /* items that a probe holds without allocating memory */
    MAX_STEPS = 200000, /* steps of captures that a probe follows; this bounds its time */
    MAX_WORKSPACES = 64 /* kept for reuse; further threads create and free their own */
};

#define ALL_METRICS (SHASHKI_DTC | SHASHKI_DTW | SHASHKI_DTB)
#define ALL_SQUARES 0xFFFFFFFFu
#define FIRST_ROW 0x0000000Fu
#define LAST_ROW 0xF0000000u

/* -------------------------------------------------------------------------------- errors */

static __thread char last_text[512];
static __thread enum shashki_error last_error;

const char *shashki_version(void) { return SHASHKI_VERSION; }

const char *shashki_error_text(enum shashki_error error)
{
    switch (error) {
    case SHASHKI_OK: return "no error";
    case SHASHKI_E_ARGUMENT: return "an argument is NULL or not in its range";
    case SHASHKI_E_POSITION:
        return "the position is not valid: two pieces on a square, or a man on the row where it promotes";
    case SHASHKI_E_NO_TABLE: return "a required table is missing";
    case SHASHKI_E_NOT_CACHED: return "a required part of a table is not in memory";
    case SHASHKI_E_DIRECTORY: return "the directory does not exist or cannot be read";
    case SHASHKI_E_NOT_A_TABLE: return "a file has the name of a table but is not a table";
    case SHASHKI_E_VERSION: return "the tables have another format version or other draw rules";
    case SHASHKI_E_TRUNCATED: return "a table file is shorter or longer than its header says";
    case SHASHKI_E_HEADER: return "a table file is damaged in its header, alphabet or frame index";
    case SHASHKI_E_FRAME: return "a table file is damaged in a frame";
    case SHASHKI_E_READ: return "the system cannot read a table file";
    case SHASHKI_E_MEMORY: return "out of memory";
    case SHASHKI_E_TOO_COMPLEX: return "the position has too many captures to follow";
    default: return "unknown error code";
    }
}

const char *shashki_last_error(void) { return last_text[0] ? last_text : shashki_error_text(last_error); }

/* Set an error without details. This must be cheap: millions of probes may fail. */
static enum shashki_error set_error(enum shashki_error error)
{
    last_error = error;
    last_text[0] = '\0';
    return error;
}

/* Set an error with details. */
__attribute__((format(printf, 2, 3))) static enum shashki_error set_errorf(enum shashki_error error,
                                                                           const char *format, ...)
{
    va_list arguments;
    last_error = error;
    va_start(arguments, format);
    vsnprintf(last_text, sizeof last_text, format, arguments);
    va_end(arguments);
    return error;
}

/* -------------------------------------------------------------------------------- board */

/* A position seen by its side to move. */
struct board {
    uint32_t own_men, own_kings, other_men, other_kings;
};

enum { UP_LEFT, UP_RIGHT, DOWN_LEFT, DOWN_RIGHT, DIRECTIONS };

/* By direction and square: the squares that follow in this direction, up to the edge. */
static const uint32_t RAYS[DIRECTIONS][SQUARES] = {
    {0x00000000, 0x00000110, 0x00011220, 0x01122440, 0x00000100, 0x00011200, 0x01122400, 0x12244800,
     0x00000000, 0x00011000, 0x01122000, 0x12244000, 0x00010000, 0x01120000, 0x12240000, 0x24480000,
     0x00000000, 0x01100000, 0x12200000, 0x24400000, 0x01000000, 0x12000000, 0x24000000, 0x48000000,
     0x00000000, 0x10000000, 0x20000000, 0x40000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000},
    {0x88442210, 0x00884420, 0x00008840, 0x00000080, 0x88442200, 0x00884400, 0x00008800, 0x00000000,
     0x44221000, 0x88442000, 0x00884000, 0x00008000, 0x44220000, 0x88440000, 0x00880000, 0x00000000,
     0x22100000, 0x44200000, 0x88400000, 0x00800000, 0x22000000, 0x44000000, 0x88000000, 0x00000000,
     0x10000000, 0x20000000, 0x40000000, 0x80000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000},
    {0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000001, 0x00000002, 0x00000004, 0x00000008,
     0x00000000, 0x00000011, 0x00000022, 0x00000044, 0x00000100, 0x00000211, 0x00000422, 0x00000844,
     0x00000000, 0x00001100, 0x00002211, 0x00004422, 0x00010000, 0x00021100, 0x00042211, 0x00084422,
     0x00000000, 0x00110000, 0x00221100, 0x00442211, 0x01000000, 0x02110000, 0x04221100, 0x08442211},
    {0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000002, 0x00000004, 0x00000008, 0x00000000,
     0x00000012, 0x00000024, 0x00000048, 0x00000080, 0x00000224, 0x00000448, 0x00000880, 0x00000000,
     0x00001224, 0x00002448, 0x00004880, 0x00008000, 0x00022448, 0x00044880, 0x00088000, 0x00000000,
     0x00122448, 0x00244880, 0x00488000, 0x00800000, 0x02244880, 0x04488000, 0x08800000, 0x00000000},
};

/* The builtin is a function call if the target processor has no such instruction. */
static inline unsigned count_bits(uint32_t set)
{
#if defined(__POPCNT__) || defined(__aarch64__)
    return (unsigned)__builtin_popcount(set);
#else
    set -= set >> 1 & 0x55555555u;
    set = (set & 0x33333333u) + (set >> 2 & 0x33333333u);
    return ((set + (set >> 4)) & 0x0F0F0F0Fu) * 0x01010101u >> 24;
#endif
}

static inline unsigned lowest_square(uint32_t set) { return (unsigned)__builtin_ctz(set); }
static inline unsigned highest_square(uint32_t set) { return 31u - (unsigned)__builtin_clz(set); }

/* Rotate the board by 180 degrees: square s becomes 31 - s. */
static inline uint32_t rotate(uint32_t set)
{
    set = __builtin_bswap32(set);
    set = (set >> 4 & 0x0F0F0F0Fu) | (set & 0x0F0F0F0Fu) << 4;
    set = (set >> 2 & 0x33333333u) | (set & 0x33333333u) << 2;
    return (set >> 1 & 0x55555555u) | (set & 0x55555555u) << 1;
}

/* Move all squares of a set one square further; squares that leave the board are dropped. Even rows, counted
 * from 0, begin on the a file, odd rows on the b file. */
ALWAYS_INLINE uint32_t shift(uint32_t set, int direction)
{
    switch (direction) {
    case UP_LEFT: return (set & 0x0E0E0E0Eu) << 3 | (set & 0xF0F0F0F0u) << 4;
    case UP_RIGHT: return (set & 0x0F0F0F0Fu) << 4 | (set & 0x70707070u) << 5;
    case DOWN_LEFT: return (set & 0x0E0E0E0Eu) >> 5 | (set & 0xF0F0F0F0u) >> 4;
    default: return (set & 0x0F0F0F0Fu) >> 4 | (set & 0x70707070u) >> 3;
    }
}

/* Return the first square of a set on a ray in this direction. */
ALWAYS_INLINE unsigned nearest_square(uint32_t set, int direction)
{
    return direction <= UP_RIGHT ? lowest_square(set) : highest_square(set);
}

ALWAYS_INLINE bool can_capture_towards(int direction, uint32_t men, uint32_t kings, uint32_t victims,
                                       uint32_t empty)
{
    uint32_t reached = men | kings, front = shift(kings, direction) & empty;
    while (front) {
        reached |= front;
        front = shift(front, direction) & empty;
    }
    return (shift(shift(reached, direction) & victims, direction) & empty) != 0;
}

/* Whether one of these men and kings can capture a victim. All pieces are tested at once. */
static inline bool can_capture(uint32_t men, uint32_t kings, uint32_t victims, uint32_t empty)
{
    return can_capture_towards(UP_LEFT, men, kings, victims, empty) ||
           can_capture_towards(UP_RIGHT, men, kings, victims, empty) ||
           can_capture_towards(DOWN_LEFT, men, kings, victims, empty) ||
           can_capture_towards(DOWN_RIGHT, men, kings, victims, empty);
}

static inline bool has_quiet_move(const struct board *board, uint32_t empty)
{
    uint32_t up = board->own_men | board->own_kings;
    uint32_t reached = shift(up, UP_LEFT) | shift(up, UP_RIGHT) | shift(board->own_kings, DOWN_LEFT) |
                       shift(board->own_kings, DOWN_RIGHT);
    return (reached & empty) != 0;
}

static inline uint32_t empty_squares(const struct board *board)
{
    return ALL_SQUARES & ~(board->own_men | board->own_kings | board->other_men | board->other_kings);
}

static inline unsigned count_pieces(const struct board *board)
{
    return count_bits(board->own_men | board->own_kings | board->other_men | board->other_kings);
}

static enum shashki_error read_position(const shashki_position *position, struct board *board)
{
    uint32_t wm = position->white_men, wk = position->white_kings;
    uint32_t bm = position->black_men, bk = position->black_kings;
    if (((wm & wk) | (bm & bk) | ((wm | wk) & (bm | bk)) | (wm & LAST_ROW) | (bm & FIRST_ROW)) != 0)
        return set_error(SHASHKI_E_POSITION);
    if (position->side > SHASHKI_BLACK)
        return set_errorf(SHASHKI_E_POSITION, "%lu is not a side to move", (unsigned long)position->side);
    if (position->side == SHASHKI_WHITE)
        *board = (struct board){wm, wk, bm, bk};
    else
        *board = (struct board){rotate(bm), rotate(bk), rotate(wm), rotate(wk)};
    return SHASHKI_OK;
}

/* -------------------------------------------------------------------------------- captures */

/* All that decides how a capture can continue. A second path to the same state leads to nothing new. */
struct capture_state {
    uint32_t captured;
    uint8_t square;
    uint8_t king;
};

/* The state of one probe. `boards` is a stack of the positions after captures: those after the captures of
 * the probed position, then those after the captures of its first successor, and so on. */
struct probe {
    shashki_tables *tables;
    bool cached_only;
    bool allow_missing; /* whether a distance is unknown if its table is missing; else this is an error */
    bool complete;      /* whether all positions after captures have outcomes */
    bool black;         /* whether the board is rotated; the order of moves is that of the real board */
    bool list_moves; /* whether captures are added to `moves`; else their successors are added to `boards` */
    unsigned steps;
    struct board *boards;
    size_t boards_count, boards_capacity;
    struct capture_state *states;
    size_t states_count, states_capacity;
    shashki_move *moves; /* of the probed position, for shashki_probe_moves() */
    size_t moves_count, moves_capacity;
    struct board inline_boards[INLINE_ITEMS];
    struct capture_state inline_states[INLINE_ITEMS];
};

static void probe_init(struct probe *probe, shashki_tables *tables)
{
    memset(probe, 0, offsetof(struct probe, inline_boards));
    probe->tables = tables;
    probe->boards = probe->inline_boards;
    probe->states = probe->inline_states;
    probe->boards_capacity = probe->states_capacity = INLINE_ITEMS;
}

static void probe_free(struct probe *probe)
{
    if (probe->boards != probe->inline_boards)
        free(probe->boards);
    if (probe->states != probe->inline_states)
        free(probe->states);
    free(probe->moves);
}

/* Double the capacity of an array. `initial` is its first memory, which was not allocated. */
static void *grow_array(void *items, const void *initial, size_t *capacity, size_t size)
{
    void *more = realloc(items == initial ? NULL : items, 2 * *capacity * size);
    if (!more)
        return NULL;
    if (items == initial)
        memcpy(more, initial, *capacity * size);
    *capacity *= 2;
    return more;
}

static enum shashki_error add_board(struct probe *probe, const struct board *board)
{
    if (probe->boards_count == probe->boards_capacity) {
        struct board *more =
            grow_array(probe->boards, probe->inline_boards, &probe->boards_capacity, sizeof *probe->boards);
        if (!more)
            return set_error(SHASHKI_E_MEMORY);
        probe->boards = more;
    }
    probe->boards[probe->boards_count++] = *board;
    return SHASHKI_OK;
}

/* Count a step of the probe. Fail if there are too many. */
static enum shashki_error count_step(struct probe *probe)
{
    return LIKELY(++probe->steps <= MAX_STEPS) ? SHASHKI_OK : set_error(SHASHKI_E_TOO_COMPLEX);
}

/* The search for all captures of one piece. */
struct capture_walk {
    struct probe *probe;
    const struct board *board;
    unsigned start;
    bool king; /* whether the piece was a king before the move */
    uint32_t opponents;
    uint32_t empty; /* includes the start; captured pieces stay on the board until the move ends */
    unsigned depth;
    uint8_t path[SHASHKI_MAX_PATH];
};

static enum shashki_error add_move(struct probe *probe, const struct board *after, const uint8_t *path,
                                   unsigned squares, uint32_t captured, bool king, bool promotes);

/* Add a complete capture: the move, or the position after it. */
static enum shashki_error finish_capture(struct capture_walk *walk, uint32_t captured, bool king)
{
    const struct board *board = walk->board;
    uint32_t start = 1u << walk->start, end = 1u << walk->path[walk->depth];
    uint32_t men = board->own_men & ~start, kings = board->own_kings & ~start;
    if (king)
        kings |= end;
    else
        men |= end;
    struct board after = {rotate(board->other_men & ~captured), rotate(board->other_kings & ~captured),
                          rotate(men), rotate(kings)};
    if (walk->probe->list_moves)
        return add_move(walk->probe, &after, walk->path, walk->depth + 1, captured, walk->king,
                        king && !walk->king);
    return add_board(walk->probe, &after);
}

/* Return the squares where a piece can land after it captures in this direction; 0 if it cannot capture. */
static inline uint32_t find_landings(const struct capture_walk *walk, unsigned square, bool king,
                                     uint32_t captured, int direction, uint32_t *victim)
{
    uint32_t ray = RAYS[direction][square];
    uint32_t occupied = king ? ray & ~walk->empty : ray;
    if (!occupied)
        return 0;
    unsigned victim_square = nearest_square(occupied, direction);
    *victim = 1u << victim_square;
    if (!(*victim & walk->opponents & ~captured))
        return 0;
    uint32_t behind = RAYS[direction][victim_square], blocked = behind & ~walk->empty;
    if (blocked) {
        unsigned edge = nearest_square(blocked, direction);
        behind &= ~(RAYS[direction][edge] | 1u << edge);
    }
    if (behind && !king)
        behind = 1u << nearest_square(behind, direction);
    return behind;
}

/* Remember a state of this piece; `seen` says whether it was known. */
static enum shashki_error visit_state(struct probe *probe, struct capture_state state, bool *seen)
{
    *seen = false;
    for (size_t i = 0; i < probe->states_count && !*seen; i++)
        *seen = probe->states[i].captured == state.captured && probe->states[i].square == state.square &&
                probe->states[i].king == state.king;
    if (*seen)
        return SHASHKI_OK;
    if (probe->states_count == probe->states_capacity) {
        struct capture_state *more =
            grow_array(probe->states, probe->inline_states, &probe->states_capacity, sizeof *probe->states);
        if (!more)
            return set_error(SHASHKI_E_MEMORY);
        probe->states = more;
    }
    probe->states[probe->states_count++] = state;
    return count_step(probe);
}

/* Find all continuations of a capture. The number of captured pieces bounds the recursion. */
static enum shashki_error continue_capture(struct capture_walk *walk, bool king, uint32_t captured)
{
    struct probe *probe = walk->probe;
    unsigned square = walk->path[walk->depth];
    for (int turn = 0; turn < DIRECTIONS; turn++) {
        int direction = probe->black ? DIRECTIONS - 1 - turn : turn;
        uint32_t victim = 0, landings = find_landings(walk, square, king, captured, direction, &victim);
        if (!landings)
            continue;
        uint32_t captured_now = captured | victim, left = walk->opponents & ~captured_now;
        bool king_now = king || (landings & LAST_ROW);
        uint32_t as_men = king_now ? 0 : landings, as_kings = king_now ? landings : 0;
        uint32_t continuing = 0;
        if (left && can_capture(as_men, as_kings, left, walk->empty)) {
            /* If the capture can continue from one of these squares, the piece must land on such a square. */
            for (uint32_t rest = landings; rest; rest &= rest - 1) {
                uint32_t one = rest & -rest;
                if (can_capture(as_men & one, as_kings & one, left, walk->empty))
                    continuing |= one;
            }
            landings = continuing;
        }
        while (landings) {
            unsigned landing = nearest_square(landings, direction);
            landings &= ~(1u << landing);
            bool seen;
            enum shashki_error error =
                visit_state(probe, (struct capture_state){captured_now, (uint8_t)landing, king_now}, &seen);
            if (error)
                return error;
            if (seen)
                continue;
            walk->path[++walk->depth] = (uint8_t)landing;
            error = continuing ? continue_capture(walk, king_now, captured_now)
                               : finish_capture(walk, captured_now, king_now);
            walk->depth--;
            if (error)
                return error;
        }
    }
    return SHASHKI_OK;
}

/* Add all captures of a position, or the positions after them, which the opponent sees. */
static enum shashki_error add_captures(struct probe *probe, const struct board *board, uint32_t empty)
{
    uint32_t opponents = board->other_men | board->other_kings;
    uint32_t pieces = board->own_men | board->own_kings;
    while (pieces) {
        unsigned start = probe->black ? highest_square(pieces) : lowest_square(pieces);
        uint32_t bit = 1u << start;
        pieces &= ~bit;
        bool king = (board->own_kings & bit) != 0;
        if (!can_capture(king ? 0 : bit, king ? bit : 0, opponents, empty))
            continue;
        struct capture_walk walk = {
            .probe = probe, .board = board, .start = start, .king = king, .opponents = opponents};
        walk.empty = empty | bit;
        walk.path[0] = (uint8_t)start;
        probe->states_count = 0;
        enum shashki_error error = continue_capture(&walk, king, 0);
        if (error)
            return error;
    }
    return SHASHKI_OK;
}

/* -------------------------------------------------------------------------------- index */

/* The material of a slice, and the numbers that its index needs. */
struct shape {
    bool own_outer; /* whether own men number the blocks first: true if the own side is weaker */
    unsigned own_kings, own_men, other_kings, other_men;
    uint64_t block_size;    /* positions of a block: they share the placement of all men */
    uint64_t own_king_sets; /* placements of own kings when all other pieces are placed */
    uint64_t positions;
    const uint64_t *first_blocks; /* by placement of the men numbered first; last, the number of blocks */
};

/* C(n, k) as choose[k][n]. k comes first because ranking uses one k after another. */
typedef uint32_t binomials[MAX_KIND + 1][SQUARES + 1];

static void fill_binomials(binomials choose)
{
    for (unsigned n = 0; n <= SQUARES; n++) {
        choose[0][n] = 1;
        for (unsigned k = 1; k <= MAX_KIND; k++)
            choose[k][n] = n ? choose[k][n - 1] + choose[k - 1][n - 1] : 0;
    }
}

/* Return the colexicographic rank of a set among the sets of the same size within `among`. */
static inline uint64_t rank_set(binomials choose, uint32_t set, uint32_t among)
{
    uint64_t rank = 0;
    for (unsigned k = 1; set; k++, set &= set - 1)
        rank += choose[k][count_bits(among & ((set & -set) - 1))];
    return rank;
}

static uint64_t index_position(binomials choose, const struct shape *shape, const struct board *board)
{
    uint32_t own = board->own_men, other = board->other_men, men = own | other;
    uint64_t block = 0;
    if (men)
        block = shape->own_outer ? shape->first_blocks[rank_set(choose, own, ~LAST_ROW)] +
                                       rank_set(choose, other, ~FIRST_ROW & ~own)
                                 : shape->first_blocks[rank_set(choose, other, ~FIRST_ROW)] +
                                       rank_set(choose, own, ~LAST_ROW & ~other);
    return block * shape->block_size + rank_set(choose, board->other_kings, ~men) * shape->own_king_sets +
           rank_set(choose, board->own_kings, ~(men | board->other_kings));
}

/* Return a new array `first_blocks`, the running sum of blocks; NULL if out of memory. */
static uint64_t *new_first_blocks(binomials choose, bool own_outer, unsigned outer, unsigned inner)
{
    size_t placements = choose[outer][MEN_SQUARES];
    uint64_t *first_blocks = malloc((placements + 1) * sizeof *first_blocks);
    if (!first_blocks)
        return NULL;
    uint64_t men = ((uint64_t)1 << outer) - 1, sum = 0;
    unsigned lowest = own_outer ? 0 : 4; /* the other men are on squares 4..31 */
    uint32_t inner_squares = own_outer ? ~FIRST_ROW : ~LAST_ROW;
    for (size_t placement = 0; placement < placements; placement++) {
        first_blocks[placement] = sum;
        sum += choose[inner][count_bits(inner_squares & ~(uint32_t)(men << lowest))];
        if (men) {
            /* The next larger number with as many bits: colexicographic order is numeric order. */
            uint64_t low = men & -men, up = men + low;
            men = up | (((men ^ up) / low) >> 2);
        }
    }
    first_blocks[placements] = sum;
    return first_blocks;
}

/* -------------------------------------------------------------------------------- cache */

/* One budget of bytes holds the decoded frames of all tables. It is cut into slots of the size of the largest
 * frame.
 *
 * A table stores for each frame the slot that the frame was last written to (`slots`). A lookup therefore
 * needs two loads and no search. This number is only a hint: the slot itself says which frame it holds. A
 * slot is a sequence lock:
 *
 * - A writer makes the version odd by a compare-and-swap, which only one thread can win. Then it stores the
 *   numbers of table and frame, and the frame word by word. Then it makes the version even again. All stores
 *   release.
 * - A reader loads the version with acquire, and gives up if it is odd. Then it loads the numbers of table
 *   and frame and the one word with the value, all with acquire. Then it loads the version again. If the
 *   version is the same, the word belongs to it. Proof: if the word came from a later writer, the acquire
 *   would also make that writer's odd version visible, and the second load could not return an older one. As
 *   the first load acquired the version, the word cannot be older than the version either.
 *
 * So all accesses to shared memory are atomic, and there is no data race in the sense of C11. A reader never
 * waits. It writes only one byte, which marks the slot as used, and only if the mark is not set. A reader
 * that gives up decodes the frame itself. Two threads that need the same frame at once both decode it. A
 * clock algorithm finds the slot to overwrite: its hand skips slots that were used since it passed them.
 */

typedef size_t word; /* the unit of frames in the cache; every processor loads it at once */

struct slot {
    size_t version;
    uint32_t table;
    uint32_t frame;
    unsigned char used;
};

struct cache {
    size_t slot_count;
    size_t slot_words;
    struct slot *slots;
    word *words;
    size_t clock_hand;
};

/* Allocate the cache. It has no slots if the budget is less than a frame. It has at most a slot for each
 * frame, and some more for frames that threads decode at the same time. */
static enum shashki_error cache_init(struct cache *cache, size_t bytes, size_t frame_bytes, uint64_t frames)
{
    cache->slot_words = (frame_bytes + sizeof(word) - 1) / sizeof(word);
    cache->slot_count = frame_bytes ? bytes / (sizeof(struct slot) + cache->slot_words * sizeof(word)) : 0;
    if (cache->slot_count > frames + MAX_WORKSPACES)
        cache->slot_count = (size_t)frames + MAX_WORKSPACES;
    if (cache->slot_count > UINT32_MAX - 1)
        cache->slot_count = UINT32_MAX - 1;
    if (!cache->slot_count)
        return SHASHKI_OK;
    cache->slots = calloc(cache->slot_count, sizeof *cache->slots);
    cache->words = malloc(cache->slot_count * cache->slot_words * sizeof(word));
    if (cache->slots && cache->words)
        return SHASHKI_OK;
    return set_errorf(SHASHKI_E_MEMORY, "out of memory for a cache of %zu frames of %zu bytes",
                      cache->slot_count, frame_bytes);
}

static void cache_free(struct cache *cache)
{
    free(cache->slots);
    free(cache->words);
}

/* Return a byte of a word by its index in memory. */
static inline unsigned word_byte(word data, size_t index)
{
    unsigned char bytes[sizeof data];
    memcpy(bytes, &data, sizeof data);
    return bytes[index];
}

/* Read the word of a frame that contains the byte at `offset`; false if the frame is not in this slot.
 * `slot_ref` is the number of the slot + 1, or 0. */
static inline bool cache_read(struct cache *cache, uint32_t slot_ref, uint32_t table, uint32_t frame,
                              size_t offset, word *found)
{
    if (!slot_ref)
        return false;
    struct slot *slot = &cache->slots[slot_ref - 1];
    size_t version = LOAD_ACQUIRE(&slot->version);
    if (version & 1 || LOAD_ACQUIRE(&slot->table) != table || LOAD_ACQUIRE(&slot->frame) != frame)
        return false;
    *found = LOAD_ACQUIRE(&cache->words[(slot_ref - 1) * cache->slot_words + offset / sizeof(word)]);
    if (LOAD_RELAXED(&slot->version) != version)
        return false;
    if (!LOAD_RELAXED(&slot->used))
        STORE_RELAXED(&slot->used, 1);
    return true;
}

/* Claim a slot for writing: make its version odd. Return its number + 1, or 0 if none is free. */
static uint32_t cache_claim(struct cache *cache)
{
    for (size_t tries = 2 * cache->slot_count + 2; cache->slot_count && tries; tries--) {
        size_t number = FETCH_ADD(&cache->clock_hand, 1) % cache->slot_count;
        struct slot *slot = &cache->slots[number];
        size_t version = LOAD_ACQUIRE(&slot->version);
        if (version & 1)
            continue;
        if (LOAD_RELAXED(&slot->used)) {
            STORE_RELAXED(&slot->used, 0);
            continue;
        }
        if (COMPARE_EXCHANGE(&slot->version, &version, version + 1))
            return (uint32_t)number + 1;
    }
    return 0;
}

/* The progress of shashki_preload(). */
struct preload {
    size_t free_slots;   /* slots left for further frames */
    size_t left_out;     /* frames that did not fit */
    size_t next_slot;    /* the next slot to claim */
    unsigned char *keep; /* by slot: whether it holds a requested frame already */
    bool decoding;       /* false in the first pass, which only marks slots to keep */
};

/* Claim the next slot without a requested frame, which the clock could overwrite. 0 if there is none. */
static uint32_t cache_claim_for_preload(struct cache *cache, struct preload *preload)
{
    while (preload->next_slot < cache->slot_count) {
        size_t number = preload->next_slot++;
        struct slot *slot = &cache->slots[number];
        size_t version = LOAD_ACQUIRE(&slot->version);
        if (!preload->keep[number] && !(version & 1) &&
            COMPARE_EXCHANGE(&slot->version, &version, version + 1))
            return (uint32_t)number + 1;
    }
    return 0;
}

/* Fill a claimed slot and release it to readers. */
static void cache_fill(struct cache *cache, uint32_t slot_ref, uint32_t table, uint32_t frame,
                       const word *words, size_t bytes)
{
    struct slot *slot = &cache->slots[slot_ref - 1];
    word *kept = &cache->words[(slot_ref - 1) * cache->slot_words];
    STORE_RELEASE(&slot->table, table);
    STORE_RELEASE(&slot->frame, frame);
    for (size_t i = 0; i < (bytes + sizeof(word) - 1) / sizeof(word); i++)
        STORE_RELEASE(&kept[i], words[i]);
    STORE_RELAXED(&slot->used, 1);
    STORE_RELEASE(&slot->version, LOAD_RELAXED(&slot->version) + 1);
}

/* -------------------------------------------------------------------------------- set of tables */

/* An open table with the facts of its header. After it is published, only `slots` changes. */
struct table {
    struct shape shape;
    uint32_t number; /* in its set; never 0, which marks an empty slot */
    uint32_t symbols;
    uint32_t values_per_byte;
    uint32_t value_bytes;
    uint64_t frame_values;
    uint32_t frame_size;
    uint32_t frames;
    uint32_t *slots;       /* by frame: slot of the cache + 1; 0 for none */
    uint64_t *frame_ends;  /* by frame: end in the file */
    uint64_t frames_start; /* start of the first frame in the file */
    uint32_t powers[8];    /* 2^16 / symbols^r, rounded up: a product with them divides a byte */
    int16_t *alphabet;
    int file; /* descriptor, or -1 if too many files are open */
    dev_t device;
    ino_t inode;
    char name[48];
};

struct slice {
    unsigned available; /* a bit for each table that exists */
    struct table *tables[METRICS];
};

struct workspace {
    ZSTD_DCtx *context;
    unsigned char *compressed;
    word *decoded;
};

struct shashki_tables {
    struct slice *slices; /* by material; see get_slice */
    struct cache cache;
    binomials choose;
    uint64_t *first_blocks[2][MAX_KIND + 1][MAX_KIND + 1];
    struct workspace *workspaces[MAX_WORKSPACES];
    long max_open_files; /* limit of files that all sets together keep open */
    int pieces;
    bool official; /* whether the ruleset is official; else king-moves-only */
    uint64_t frames_read, bytes_read;
    DIR *directory; /* kept open: a change of the working directory does not matter */
};

static const char *const METRIC_NAMES[METRICS] = {"wdl", "dtc", "dtw", "dtb"};

enum { KINDS = MAX_KIND + 1, SLICES = KINDS * KINDS * KINDS * KINDS };

ALWAYS_INLINE unsigned slice_id(unsigned own_kings, unsigned own_men, unsigned other_kings,
                                unsigned other_men)
{
    return ((own_kings * KINDS + own_men) * KINDS + other_kings) * KINDS + other_men;
}

static void write_table_name(char *name, const struct shape *shape, int metric)
{
    char *at = name;
    memset(at, 'K', shape->own_kings), at += shape->own_kings;
    memset(at, 'M', shape->own_men), at += shape->own_men;
    *at++ = 'v';
    memset(at, 'K', shape->other_kings), at += shape->other_kings;
    memset(at, 'M', shape->other_men), at += shape->other_men;
    *at++ = '.';
    memcpy(at, METRIC_NAMES[metric], 4);
}

/* Parse a name like `KKMvK.wdl`: kings before men, at least one piece on each side, MAX_PIECES at most. */
static bool parse_table_name(const char *name, struct shape *shape, int *metric)
{
    size_t length = strspn(name, "KMv");
    if (length > MAX_PIECES + 1 || name[length] != '.')
        return false;
    memset(shape, 0, sizeof *shape);
    while (*name == 'K')
        shape->own_kings++, name++;
    while (*name == 'M')
        shape->own_men++, name++;
    if (*name++ != 'v')
        return false;
    while (*name == 'K')
        shape->other_kings++, name++;
    while (*name == 'M')
        shape->other_men++, name++;
    if (*name++ != '.' || shape->own_kings + shape->own_men == 0 ||
        shape->other_kings + shape->other_men == 0)
        return false;
    for (*metric = 0; *metric < METRICS; ++*metric)
        if (strcmp(name, METRIC_NAMES[*metric]) == 0)
            return true;
    return false;
}

/* -------------------------------------------------------------------------------- table files */

static uint16_t u16(const unsigned char *at) { return (uint16_t)(at[0] | at[1] << 8); }
static uint32_t u32(const unsigned char *at) { return u16(at) | (uint32_t)u16(at + 2) << 16; }
static uint64_t u64(const unsigned char *at) { return u32(at) | (uint64_t)u32(at + 4) << 32; }

static uint32_t crc32(const unsigned char *bytes, size_t length)
{
    static const uint32_t NIBBLES[16] = {
        0x00000000, 0x1DB71064, 0x3B6E20C8, 0x26D930AC, 0x76DC4190, 0x6B6B51F4, 0x4DB26158, 0x5005713C,
        0xEDB88320, 0xF00F9344, 0xD6D6A3E8, 0xCB61B38C, 0x9B64C2B0, 0x86D3D2D4, 0xA00AE278, 0xBDBDF21C};
    uint32_t crc = ~0u;
    while (length--) {
        crc ^= *bytes++;
        crc = crc >> 4 ^ NIBBLES[crc & 15];
        crc = crc >> 4 ^ NIBBLES[crc & 15];
    }
    return ~crc;
}

/* Whether a text field, padded with zero bytes, contains this text. */
static bool field_equals(const unsigned char *field, size_t width, const char *text)
{
    size_t length = strlen(text);
    if (length > width || memcmp(field, text, length) != 0)
        return false;
    while (length < width)
        if (field[length++])
            return false;
    return true;
}

/* Read `length` bytes, or fewer at the end of the file. */
static enum shashki_error read_fully(int file, unsigned char *bytes, size_t length, uint64_t offset,
                                     size_t *done)
{
    for (*done = 0; *done < length;) {
        ssize_t got = pread(file, bytes + *done, length - *done, (off_t)(offset + *done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return SHASHKI_E_READ;
        if (got == 0)
            break;
        *done += (size_t)got;
    }
    return SHASHKI_OK;
}

static const unsigned char MAGIC[8] = {0x93, 'S', 'H', 'A', 'S', 'H', 'K', 'I'};

/* Check the format version, and the ruleset unless the header is damaged. `known` says whether it is not. */
static enum shashki_error check_version(const unsigned char *header, const char *name, bool *known,
                                        bool *official)
{
    *known = false;
    if (memcmp(header, MAGIC, sizeof MAGIC) != 0)
        return SHASHKI_OK;
    if (u16(header + 8) != FORMAT_VERSION)
        return set_errorf(SHASHKI_E_VERSION, "%s has format version %u; this library reads version %d", name,
                          u16(header + 8), FORMAT_VERSION);
    if (u32(header + 124) != crc32(header, 124))
        return SHASHKI_OK;
    *official = field_equals(header + 24, 32, "official");
    if ((!*official && !field_equals(header + 24, 32, "king-moves-only")) ||
        u32(header + 56) != KING_MOVES_PLIES)
        return set_errorf(SHASHKI_E_VERSION,
                          "%s was generated under draw rules that this library does not know", name);
    *known = true;
    return SHASHKI_OK;
}

static enum shashki_error set_ruleset_error(const char *name)
{
    return set_errorf(SHASHKI_E_VERSION, "%s was generated under other draw rules than the other tables",
                      name);
}

static uint64_t packed_size(uint64_t values, uint32_t values_per_byte, uint32_t value_bytes)
{
    return (values + values_per_byte - 1) / values_per_byte * value_bytes;
}

static uint64_t decoded_frame_size(const struct table *table, uint32_t frame)
{
    uint64_t left = table->shape.positions - frame * table->frame_values;
    return packed_size(left < table->frame_values ? left : table->frame_values, table->values_per_byte,
                       table->value_bytes);
}

static enum shashki_error set_damage_error(const struct table *table, const char *what)
{
    return set_errorf(SHASHKI_E_HEADER, "%s is damaged: %s", table->name, what);
}

/* Compute the numbers of a shape from its material. Materials with the same men share `first_blocks`. */
static enum shashki_error init_shape(shashki_tables *tables, struct shape *shape)
{
    unsigned own = shape->own_kings + shape->own_men, other = shape->other_kings + shape->other_men;
    shape->own_outer = own < other || (own == other && shape->own_kings < shape->other_kings);
    unsigned outer = shape->own_outer ? shape->own_men : shape->other_men;
    unsigned inner = shape->own_outer ? shape->other_men : shape->own_men;
    unsigned free_squares = SQUARES - outer - inner;
    uint64_t **slot = &tables->first_blocks[shape->own_outer][outer][inner];
    uint64_t *first_blocks = LOAD_ACQUIRE(slot);
    if (!first_blocks) {
        uint64_t *made = new_first_blocks(tables->choose, shape->own_outer, outer, inner);
        if (!made)
            return set_error(SHASHKI_E_MEMORY);
        if (COMPARE_EXCHANGE(slot, &first_blocks, made))
            first_blocks = made;
        else
            free(made);
    }
    shape->first_blocks = first_blocks;
    shape->own_king_sets = tables->choose[shape->own_kings][free_squares - shape->other_kings];
    shape->block_size = tables->choose[shape->other_kings][free_squares] * shape->own_king_sets;
    shape->positions = first_blocks[tables->choose[outer][MEN_SQUARES]] * shape->block_size;
    return SHASHKI_OK;
}

/* Number of files and directories that all sets keep open. The process has one limit for all. */
static long open_files;

static void close_file(struct table *table)
{
    if (table->file < 0)
        return;
    close(table->file);
    table->file = -1;
    FETCH_ADD(&open_files, -1);
}

static void free_table(struct table *table)
{
    close_file(table);
    free(table->slots);
    free(table->frame_ends);
    free(table->alphabet);
    free(table);
}

/* Compute how values are packed into bytes: as many in a byte as fit. */
static void init_packing(struct table *table)
{
    table->values_per_byte = 1;
    table->value_bytes = table->symbols > 256 ? 2 : 1;
    if (table->symbols <= 256) {
        uint32_t base = table->symbols < 2 ? 2 : table->symbols, power = base;
        while (table->values_per_byte < 8 && power * base <= 256)
            power *= base, table->values_per_byte++;
    }
    for (uint32_t r = 0, power = 1; r < table->values_per_byte; r++, power *= table->symbols)
        table->powers[r] = 65536 / (power ? power : 1) + (65536 % (power ? power : 1) != 0);
    table->frame_values = (uint64_t)table->frame_size / table->value_bytes * table->values_per_byte;
}

/* Check a header and copy its facts to the table. `body` is the length of alphabet and frame index. */
static enum shashki_error parse_header(struct table *table, const unsigned char *header, int metric,
                                       bool official, size_t *body)
{
    const struct shape *shape = &table->shape;
    bool known, is_official;
    if (memcmp(header, MAGIC, sizeof MAGIC) != 0)
        return set_errorf(SHASHKI_E_NOT_A_TABLE, "%s does not start with the magic bytes of a table",
                          table->name);
    enum shashki_error error = check_version(header, table->name, &known, &is_official);
    if (error)
        return error;
    if (!known)
        return set_damage_error(table, "the checksum of its header does not match");
    if (is_official != official)
        return set_ruleset_error(table->name); /* the file was added after the set was opened */
    if (header[12] != shape->own_kings || header[13] != shape->own_men || header[14] != shape->other_kings ||
        header[15] != shape->other_men || !field_equals(header + 16, 8, METRIC_NAMES[metric]))
        return set_damage_error(table, "its header names another table");
    for (int i = 0; i < 28; i++)
        if (header[92 + i] > 127)
            return set_damage_error(table, "the generator version is not text");
    table->frame_size = u32(header + 60);
    table->frames = u32(header + 80);
    table->symbols = u32(header + 84);
    if (table->frame_size < 2 || table->frame_size > MAX_FRAME_SIZE || table->frame_size % 2)
        return set_damage_error(table, "its frame size is not an even number up to 65536");
    if (table->symbols > 65536)
        return set_damage_error(table, "its alphabet has more than 65536 values");
    init_packing(table);
    uint64_t frames =
        table->symbols <= 1 ? 0 : (shape->positions + table->frame_values - 1) / table->frame_values;
    if (u16(header + 10) != HEADER_SIZE || u64(header + 64) != shape->positions ||
        u64(header + 72) != shape->block_size || header[88] != table->values_per_byte ||
        header[89] != table->value_bytes || table->frames != frames)
        return set_damage_error(table, "the numbers in its header do not match its material");
    *body = (2 * (size_t)table->symbols + 7) / 8 * 8 + 8 * (size_t)table->frames;
    table->frames_start = HEADER_SIZE + *body;
    return SHASHKI_OK;
}

/* Check alphabet and frame index, and copy them to the table. */
static enum shashki_error parse_body(struct table *table, const unsigned char *body, int metric,
                                     uint64_t size)
{
    const unsigned char *index = body + (2 * (size_t)table->symbols + 7) / 8 * 8;
    table->alphabet = malloc((table->symbols + 1) * sizeof *table->alphabet);
    table->frame_ends = malloc((table->frames + (size_t)1) * sizeof *table->frame_ends);
    table->slots = calloc(table->frames + (size_t)1, sizeof *table->slots);
    if (!table->alphabet || !table->frame_ends || !table->slots)
        return set_error(SHASHKI_E_MEMORY);
    table->alphabet[table->symbols] = 0;
    for (uint32_t i = 0; i < table->symbols; i++) {
        table->alphabet[i] = (int16_t)u16(body + 2 * (size_t)i);
        if (i && table->alphabet[i] <= table->alphabet[i - 1])
            return set_damage_error(table, "the values of its alphabet are not in ascending order");
        if (metric == WDL && (table->alphabet[i] < SHASHKI_LOSS || table->alphabet[i] > SHASHKI_WIN))
            return set_damage_error(table, "its alphabet has a value that is not an outcome");
    }
    uint64_t before = table->frames_start;
    for (uint32_t i = 0; i < table->frames; i++) {
        table->frame_ends[i] = u64(index + 8 * (size_t)i);
        if (table->frame_ends[i] <= before)
            return set_damage_error(table, "the offsets in its frame index are not in ascending order");
        if (table->frame_ends[i] - before > ZSTD_compressBound(decoded_frame_size(table, i)))
            return set_damage_error(table, "a frame is longer than possible");
        before = table->frame_ends[i];
    }
    if (before != size)
        return set_errorf(SHASHKI_E_TRUNCATED, "%s has %llu bytes; its header says %llu", table->name,
                          (unsigned long long)size, (unsigned long long)before);
    return SHASHKI_OK;
}

/* Open the file of a table. If `reopening`, it must be the same file as before. */
static enum shashki_error open_file(const shashki_tables *tables, const struct table *table, int *file,
                                    uint64_t *size, bool reopening, struct stat *found)
{
    /* O_NONBLOCK: a pipe with this name must not block. */
    *file = openat(dirfd(tables->directory), table->name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (*file < 0)
        return errno == ENOENT ? set_errorf(SHASHKI_E_NO_TABLE,
                                            "%s has been removed since the tables were opened", table->name)
                               : set_errorf(SHASHKI_E_READ, "%s: %s", table->name, strerror(errno));
    if (fstat(*file, found) != 0 || !S_ISREG(found->st_mode) ||
        (reopening && (found->st_dev != table->device || found->st_ino != table->inode))) {
        close(*file);
        *file = -1;
        return set_errorf(reopening ? SHASHKI_E_READ : SHASHKI_E_NOT_A_TABLE,
                          reopening ? "%s has been replaced since it was opened" : "%s is not a regular file",
                          table->name);
    }
    *size = (uint64_t)found->st_size;
    return SHASHKI_OK;
}

static enum shashki_error read_table(struct table *table, int metric, bool official, uint64_t size)
{
    unsigned char header[HEADER_SIZE];
    size_t got, length = 0;
    if (read_fully(table->file, header, sizeof header, 0, &got))
        return set_errorf(SHASHKI_E_READ, "%s: %s", table->name, strerror(errno));
    if (got < sizeof header)
        return set_errorf(SHASHKI_E_TRUNCATED, "%s ends within its header", table->name);
    enum shashki_error error = parse_header(table, header, metric, official, &length);
    if (error)
        return error;
    if (size < table->frames_start)
        return set_errorf(SHASHKI_E_TRUNCATED, "%s ends within its frame index", table->name);
    unsigned char *body = malloc(length + 1);
    if (!body)
        return set_error(SHASHKI_E_MEMORY);
    if (read_fully(table->file, body, length, HEADER_SIZE, &got))
        error = set_errorf(SHASHKI_E_READ, "%s: %s", table->name, strerror(errno));
    else if (got < length)
        error = set_errorf(SHASHKI_E_TRUNCATED, "%s ends within its frame index", table->name);
    else if (u32(header + 120) != crc32(body, length))
        error = set_damage_error(table, "the checksum of its alphabet and frame index does not match");
    else
        error = parse_body(table, body, metric, size);
    free(body);
    return error;
}

/* Open a table of a slice and publish it. */
static enum shashki_error open_table(shashki_tables *tables, struct slice *slice, const struct shape *counts,
                                     int metric, struct table **opened)
{
    struct table *table = calloc(1, sizeof *table), *other = NULL;
    struct stat found;
    uint64_t size = 0;
    bool too_many = false;
    if (!table)
        return set_error(SHASHKI_E_MEMORY);
    table->file = -1;
    table->shape = *counts;
    write_table_name(table->name, counts, metric);
    enum shashki_error error = init_shape(tables, &table->shape);
    if (!error)
        error = open_file(tables, table, &table->file, &size, false, &found);
    if (!error) {
        too_many = FETCH_ADD(&open_files, 1) >= tables->max_open_files;
        error = read_table(table, metric, tables->official, size);
    }
    if (error) {
        free_table(table);
        return error;
    }
    table->device = found.st_dev;
    table->inode = found.st_ino;
    table->number = (uint32_t)(slice - tables->slices) * METRICS + (uint32_t)metric;
    if (too_many || !table->frames)
        close_file(table);
    if (COMPARE_EXCHANGE(&slice->tables[metric], &other, table)) {
        *opened = table;
    } else {
        free_table(table);
        *opened = other;
    }
    return SHASHKI_OK;
}

/* -------------------------------------------------------------------------------- frames */

static void free_workspace(struct workspace *space)
{
    ZSTD_freeDCtx(space->context);
    free(space->compressed);
    free(space->decoded);
    free(space);
}

/* Return an unused workspace or a new one. An atomic exchange takes it, so that it has only one user. */
static struct workspace *acquire_workspace(shashki_tables *tables)
{
    for (int i = 0; i < MAX_WORKSPACES; i++) {
        struct workspace *space = NULL;
        if (LOAD_RELAXED(&tables->workspaces[i]))
            space = __atomic_exchange_n(&tables->workspaces[i], NULL, __ATOMIC_ACQ_REL);
        if (space)
            return space;
    }
    struct workspace *space = calloc(1, sizeof *space);
    if (!space)
        return NULL;
    space->context = ZSTD_createDCtx();
    space->compressed = malloc(ZSTD_compressBound(MAX_FRAME_SIZE));
    space->decoded = calloc(MAX_FRAME_SIZE / sizeof(word), sizeof(word));
    if (space->context && space->compressed && space->decoded)
        return space;
    free_workspace(space);
    return NULL;
}

static void release_workspace(shashki_tables *tables, struct workspace *space)
{
    for (int i = 0; i < MAX_WORKSPACES; i++) {
        struct workspace *none = NULL;
        if (COMPARE_EXCHANGE(&tables->workspaces[i], &none, space))
            return;
    }
    free_workspace(space);
}

static enum shashki_error set_frame_error(const struct table *table, uint32_t frame, const char *what)
{
    return set_errorf(SHASHKI_E_FRAME, "%s is damaged: frame %lu of %lu: %s", table->name,
                      (unsigned long)frame, (unsigned long)table->frames, what);
}

/* Read a frame and decode it into a workspace. Fail unless it is complete and intact. */
static enum shashki_error decode_frame(shashki_tables *tables, const struct table *table, uint32_t frame,
                                       struct workspace *space)
{
    uint64_t start = frame ? table->frame_ends[frame - 1] : table->frames_start, size;
    size_t length = (size_t)(table->frame_ends[frame] - start), got;
    size_t expected = (size_t)decoded_frame_size(table, frame);
    struct stat found;
    int file = table->file;
    if (file < 0) {
        enum shashki_error error = open_file(tables, table, &file, &size, true, &found);
        if (error)
            return error;
    }
    enum shashki_error error = read_fully(file, space->compressed, length, start, &got);
    if (error)
        error = set_errorf(SHASHKI_E_READ, "%s: %s", table->name, strerror(errno));
    if (table->file < 0)
        close(file);
    if (error)
        return error;
    if (got < length)
        return set_errorf(SHASHKI_E_TRUNCATED, "%s ends within frame %lu", table->name, (unsigned long)frame);
    FETCH_ADD(&tables->frames_read, 1);
    FETCH_ADD(&tables->bytes_read, length);
    /* Check sizes first, so that only a frame of the right size is decoded. */
    if (ZSTD_getFrameContentSize(space->compressed, length) != expected)
        return set_frame_error(table, frame, "it declares a wrong size");
    if (ZSTD_findFrameCompressedSize(space->compressed, length) != length)
        return set_frame_error(table, frame, "it is not a single frame");
    size_t size_now =
        ZSTD_decompressDCtx(space->context, space->decoded, expected, space->compressed, length);
    if (ZSTD_isError(size_now))
        return set_frame_error(table, frame, ZSTD_getErrorName(size_now));
    if (size_now != expected)
        return set_frame_error(table, frame, "it decodes to a wrong size");
    return SHASHKI_OK;
}

/* Put a decoded frame into the cache. Return false if there was no slot. `preload` may be NULL. */
static bool cache_frame(shashki_tables *tables, struct table *table, uint32_t frame,
                        const struct workspace *space, struct preload *preload)
{
    struct cache *cache = &tables->cache;
    size_t bytes = (size_t)decoded_frame_size(table, frame);
    if (bytes > cache->slot_words * sizeof(word))
        return false;
    uint32_t slot_ref = preload ? cache_claim_for_preload(cache, preload) : cache_claim(cache);
    if (!slot_ref)
        return false;
    cache_fill(cache, slot_ref, table->number, frame, space->decoded, bytes);
    STORE_RELEASE(&table->slots[frame], slot_ref);
    return true;
}

/* Return the symbol in one or two bytes of a decoded frame. `digit` is its index within the byte. */
static inline uint32_t decode_symbol(const struct table *table, word data, size_t offset, uint32_t digit)
{
    uint32_t byte = word_byte(data, offset % sizeof data);
    if (table->value_bytes == 2)
        return byte | word_byte(data, offset % sizeof data + 1) << 8;
    if (table->values_per_byte == 1)
        return byte;
    uint32_t left = byte * table->powers[digit] >> 16;
    return left - (left * table->powers[1] >> 16) * table->symbols;
}

/* Get the value that a table stores at an index. */
static enum shashki_error read_value(struct probe *probe, struct table *table, uint64_t index, int *value)
{
    shashki_tables *tables = probe->tables;
    if (!table->frames) {
        *value = table->alphabet[0];
        return SHASHKI_OK;
    }
    uint32_t frame = (uint32_t)(index / table->frame_values);
    uint32_t position = (uint32_t)(index - frame * table->frame_values), digit = 0;
    size_t offset = position;
    if (table->value_bytes == 2) {
        offset = 2 * (size_t)position;
    } else if (table->values_per_byte > 1) {
        offset = position / table->values_per_byte;
        digit = position - (uint32_t)offset * table->values_per_byte;
    }
    word data = 0;
    if (!cache_read(&tables->cache, LOAD_ACQUIRE(&table->slots[frame]), table->number, frame, offset,
                    &data)) {
        if (probe->cached_only)
            return set_error(SHASHKI_E_NOT_CACHED);
        struct workspace *space = acquire_workspace(tables);
        if (!space)
            return set_error(SHASHKI_E_MEMORY);
        enum shashki_error error = decode_frame(tables, table, frame, space);
        if (!error) {
            cache_frame(tables, table, frame, space, NULL);
            data = space->decoded[offset / sizeof data];
        }
        release_workspace(tables, space);
        if (error)
            return error;
    }
    uint32_t symbol = decode_symbol(table, data, offset, digit);
    if (symbol >= table->symbols)
        return set_frame_error(table, frame, "it has a symbol that is not in the alphabet");
    *value = table->alphabet[symbol];
    return SHASHKI_OK;
}

/* -------------------------------------------------------------------------------- opening */

static struct slice *get_slice(const shashki_tables *tables, const struct shape *counts)
{
    return &tables->slices[slice_id(counts->own_kings, counts->own_men, counts->other_kings,
                                    counts->other_men)];
}

/* Sums over the headers of all files. */
struct survey {
    bool ruleset_known; /* from the header of a table */
    size_t frame_bytes;
    uint64_t frames;
};

/* Check one file of the directory if it has the name of a table. */
static enum shashki_error scan_file(shashki_tables *tables, const char *name, struct survey *survey)
{
    struct shape counts;
    struct stat found;
    struct table table;
    unsigned char header[HEADER_SIZE];
    uint64_t size;
    size_t got;
    int metric;
    bool known = false, official = false;
    if (!parse_table_name(name, &counts, &metric))
        return SHASHKI_OK;
    memset(&table, 0, sizeof table);
    write_table_name(table.name, &counts, metric);
    enum shashki_error error = open_file(tables, &table, &table.file, &size, false, &found);
    if (error)
        return error == SHASHKI_E_NO_TABLE
                   ? set_errorf(SHASHKI_E_NOT_A_TABLE, "%s is a broken link", table.name)
                   : error;
    error = read_fully(table.file, header, sizeof header, 0, &got);
    close(table.file);
    if (error)
        return set_errorf(SHASHKI_E_READ, "%s: %s", table.name, strerror(errno));
    if (got == sizeof header)
        error = check_version(header, table.name, &known, &official);
    if (error)
        return error;
    if (known && survey->ruleset_known && official != tables->official)
        return set_ruleset_error(table.name);
    if (known) {
        survey->ruleset_known = true;
        tables->official = official;
        uint64_t all = header[88] ? packed_size(u64(header + 64), header[88], header[89]) : 0;
        uint64_t frame = u32(header + 60) <= MAX_FRAME_SIZE ? u32(header + 60) : MAX_FRAME_SIZE;
        if (all < frame)
            frame = all;
        if (u32(header + 80) && frame > survey->frame_bytes)
            survey->frame_bytes = (size_t)frame;
        survey->frames += u32(header + 80);
    }
    get_slice(tables, &counts)->available |= 1u << metric;
    return SHASHKI_OK;
}

/* Advance to the next material of `pieces` pieces; to the first if `counts` has another number of pieces.
 * Return false after the last. */
static bool next_material(struct shape *counts, unsigned pieces)
{
    unsigned own = counts->own_kings + counts->own_men, other = counts->other_kings + counts->other_men;
    if (own + other != pieces) {
        *counts = (struct shape){.own_kings = 1, .other_kings = pieces - 1};
        return true;
    }
    if (counts->other_kings) {
        counts->other_kings--, counts->other_men++;
        return true;
    }
    counts->other_kings = other, counts->other_men = 0;
    if (counts->own_kings) {
        counts->own_kings--, counts->own_men++;
        return true;
    }
    if (other == 1)
        return false;
    *counts = (struct shape){.own_kings = own + 1, .other_kings = other - 1};
    return true;
}

/* Return the largest n such that every material of up to n pieces has an outcome table. */
static int find_complete_pieces(const shashki_tables *tables)
{
    for (unsigned pieces = 2; pieces <= MAX_PIECES; pieces++)
        for (struct shape counts = {0}; next_material(&counts, pieces);)
            if (!(get_slice(tables, &counts)->available & 1u << WDL))
                return pieces > 2 ? (int)pieces - 1 : 0;
    return MAX_PIECES;
}

static enum shashki_error scan_directory(shashki_tables *tables, const char *directory, size_t cache_bytes)
{
    struct survey survey = {0};
    enum shashki_error error = SHASHKI_OK;
    tables->directory = opendir(directory);
    if (!tables->directory)
        return set_errorf(SHASHKI_E_DIRECTORY, "%s: %s", directory, strerror(errno));
    FETCH_ADD(&open_files, 1);
    tables->official = true; /* for an empty directory */
    while (!error) {
        errno = 0;
        const struct dirent *entry = readdir(tables->directory);
        if (!entry) {
            if (errno)
                error = set_errorf(SHASHKI_E_DIRECTORY, "%s: %s", directory, strerror(errno));
            break;
        }
        error = scan_file(tables, entry->d_name, &survey);
    }
    if (error)
        return error;
    tables->pieces = find_complete_pieces(tables);
    return cache_init(&tables->cache, cache_bytes, survey.frame_bytes, survey.frames);
}

enum shashki_error shashki_open(const char *directory, size_t cache_bytes, shashki_tables **tables)
{
    if (!directory || !tables)
        return set_errorf(SHASHKI_E_ARGUMENT, "directory and tables must not be NULL");
    *tables = NULL;
    shashki_tables *opened = calloc(1, sizeof *opened);
    if (!opened)
        return set_error(SHASHKI_E_MEMORY);
    opened->slices = calloc(SLICES, sizeof *opened->slices);
    if (!opened->slices) {
        shashki_close(opened);
        return set_error(SHASHKI_E_MEMORY);
    }
    fill_binomials(opened->choose);
    long limit = sysconf(_SC_OPEN_MAX);
    opened->max_open_files = limit < 0 ? 1024 : limit / 2; /* leave the rest to the program */
    enum shashki_error error = scan_directory(opened, directory, cache_bytes);
    if (error)
        shashki_close(opened);
    else
        *tables = opened;
    return error;
}

void shashki_close(shashki_tables *tables)
{
    if (!tables)
        return;
    for (size_t i = 0; tables->slices && i < SLICES; i++)
        for (int metric = 0; tables->slices[i].available && metric < METRICS; metric++)
            if (tables->slices[i].tables[metric])
                free_table(tables->slices[i].tables[metric]);
    for (int i = 0; i < MAX_WORKSPACES; i++)
        if (tables->workspaces[i])
            free_workspace(tables->workspaces[i]);
    uint64_t **first_blocks = &tables->first_blocks[0][0][0];
    for (size_t i = 0; i < sizeof tables->first_blocks / sizeof *first_blocks; i++)
        free(first_blocks[i]);
    cache_free(&tables->cache);
    free(tables->slices);
    if (tables->directory) {
        closedir(tables->directory);
        FETCH_ADD(&open_files, -1);
    }
    free(tables);
}

int shashki_pieces(const shashki_tables *tables) { return tables ? tables->pieces : 0; }

const char *shashki_ruleset(const shashki_tables *tables)
{
    return !tables ? "" : tables->official ? "official" : "king-moves-only";
}

int shashki_has_table(const shashki_tables *tables, const char *name)
{
    struct shape counts;
    int metric;
    return tables && name && parse_table_name(name, &counts, &metric) &&
           get_slice(tables, &counts)->available >> metric & 1;
}

void shashki_get_stats(const shashki_tables *tables, shashki_stats *stats)
{
    if (!stats)
        return;
    stats->frames_read = tables ? LOAD_RELAXED(&tables->frames_read) : 0;
    stats->bytes_read = tables ? LOAD_RELAXED(&tables->bytes_read) : 0;
}

/* -------------------------------------------------------------------------------- values */

static const shashki_value LOST = {SHASHKI_LOSS, 0, 0, 0};
/* The opponent has no pieces: every move wins. */
static const shashki_value ONE_MOVE_WIN = {SHASHKI_WIN, 1, 1, 1};

static unsigned shape_pieces(const struct shape *counts)
{
    return counts->own_kings + counts->own_men + counts->other_kings + counts->other_men;
}

static void count_material(const struct board *board, struct shape *counts)
{
    counts->own_kings = count_bits(board->own_kings);
    counts->own_men = count_bits(board->own_men);
    counts->other_kings = count_bits(board->other_kings);
    counts->other_men = count_bits(board->other_men);
}

/* Plies that the rule on the material balance allows with this number of pieces; 0 if it sets no limit. */
static int balance_limit(const shashki_tables *tables, unsigned pieces)
{
    return !tables->official || pieces > 7 ? 0 : pieces <= 3 ? 10 : pieces <= 5 ? 60 : 120;
}

/* Whether the rule on the material balance applies: both sides have a king, and there is a limit. */
static bool has_balance_limit(const shashki_tables *tables, const struct board *board)
{
    return board->own_kings && board->other_kings && balance_limit(tables, count_pieces(board)) > 0;
}

/* Whether the material balance has a counter of its own: man moves reset the counter of king moves only. */
static bool counts_material_separately(const shashki_tables *tables, const struct board *board)
{
    return (board->own_men | board->other_men) && has_balance_limit(tables, board);
}

static enum shashki_error set_missing_error(const struct shape *counts, int metric)
{
    static const char TEXT[] = "there is no table ";
    if (shape_pieces(counts) > MAX_PIECES)
        return set_errorf(SHASHKI_E_NO_TABLE, "there are no tables of more than 10 pieces");
    last_error = SHASHKI_E_NO_TABLE;
    memcpy(last_text, TEXT, sizeof TEXT);
    write_table_name(last_text + sizeof TEXT - 1, counts, metric);
    return SHASHKI_E_NO_TABLE;
}

static inline enum shashki_error get_table(struct probe *probe, struct slice *slice,
                                           const struct shape *counts, int metric, struct table **table)
{
    *table = LOAD_ACQUIRE(&slice->tables[metric]);
    if (LIKELY(*table != NULL))
        return SHASHKI_OK;
    if (!(slice->available & 1u << metric))
        return set_missing_error(counts, metric);
    if (probe->cached_only)
        return set_error(SHASHKI_E_NOT_CACHED);
    return open_table(probe->tables, slice, counts, metric, table);
}

static enum shashki_error read_distance(struct probe *probe, struct slice *slice, const struct shape *counts,
                                        int metric, uint64_t index, int32_t *plies)
{
    struct table *table;
    int value;
    *plies = SHASHKI_UNKNOWN;
    if (probe->allow_missing && !(slice->available & 1u << metric))
        return SHASHKI_OK;
    enum shashki_error error = get_table(probe, slice, counts, metric, &table);
    if (!error)
        error = read_value(probe, table, index, &value);
    if (error)
        return error;
    if (value < 0)
        return set_damage_error(table, "it has a negative distance");
    *plies = value;
    return SHASHKI_OK;
}

/* Load the frames of a table into the cache while there are free slots. */
static enum shashki_error preload_table(shashki_tables *tables, struct table *table, struct preload *preload)
{
    struct workspace *space = acquire_workspace(tables);
    if (!space)
        return set_error(SHASHKI_E_MEMORY);
    enum shashki_error error = SHASHKI_OK;
    for (uint32_t frame = 0; frame < table->frames && !error; frame++) {
        word data;
        if (!preload->free_slots) {
            preload->left_out++;
            continue;
        }
        preload->free_slots--;
        uint32_t slot_ref = LOAD_ACQUIRE(&table->slots[frame]);
        if (cache_read(&tables->cache, slot_ref, table->number, frame, 0, &data)) {
            preload->keep[slot_ref - 1] = 1;
            continue;
        }
        if (!preload->decoding)
            continue;
        error = decode_frame(tables, table, frame, space);
        if (!error && !cache_frame(tables, table, frame, space, preload))
            preload->left_out++;
    }
    release_workspace(tables, space);
    return error;
}

/* Run one pass of preloading: outcomes first, within each metric fewer pieces first. `bits` has a bit for
 * each metric. */
static enum shashki_error preload_tables(shashki_tables *tables, int pieces, unsigned bits,
                                         struct preload *preload)
{
    enum shashki_error error = SHASHKI_OK;
    struct probe probe;
    probe_init(&probe, tables);
    preload->free_slots = tables->cache.slot_count;
    preload->left_out = 0;
    for (int metric = WDL; metric < METRICS; metric++)
        for (unsigned number = 2; number <= MAX_PIECES && (int)number <= pieces && bits >> metric & 1;
             number++)
            for (struct shape counts = {0}; !error && next_material(&counts, number);) {
                struct slice *slice = get_slice(tables, &counts);
                struct table *table;
                if (!(slice->available >> metric & 1))
                    continue;
                error = get_table(&probe, slice, &counts, metric, &table);
                if (!error)
                    error = preload_table(tables, table, preload);
            }
    probe_free(&probe);
    return error;
}

static enum shashki_error check_metrics(unsigned metrics)
{
    return metrics & ~(unsigned)ALL_METRICS
               ? set_errorf(SHASHKI_E_ARGUMENT, "metrics has unknown bits: %u", metrics)
               : SHASHKI_OK;
}

enum shashki_error shashki_preload(shashki_tables *tables, int pieces, unsigned metrics, size_t *left_out)
{
    if (!tables)
        return set_errorf(SHASHKI_E_ARGUMENT, "tables must not be NULL");
    enum shashki_error error = check_metrics(metrics);
    if (error)
        return error;
    struct preload preload = {.keep = calloc(tables->cache.slot_count + 1, 1)};
    if (!preload.keep)
        return set_error(SHASHKI_E_MEMORY);
    unsigned bits = 1u << WDL | metrics << DTC;
    /* An error of the first pass is ignored: the second pass returns it, after it loads what it can. */
    preload_tables(tables, pieces, bits, &preload);
    preload.decoding = true;
    error = preload_tables(tables, pieces, bits, &preload);
    if (preload.next_slot) /* the clock overwrites these frames last */
        STORE_RELAXED(&tables->cache.clock_hand, preload.next_slot);
    free(preload.keep);
    if (left_out && !error)
        *left_out = preload.left_out;
    return error;
}

/* Look up the value of a position without a capture in the tables of its slice. */
static enum shashki_error look_up(struct probe *probe, const struct board *board, unsigned metrics,
                                  shashki_value *value)
{
    struct shape counts;
    struct table *table;
    count_material(board, &counts);
    if (shape_pieces(&counts) > MAX_PIECES)
        return set_missing_error(&counts, WDL);
    struct slice *slice = get_slice(probe->tables, &counts);
    enum shashki_error error = get_table(probe, slice, &counts, WDL, &table);
    if (error)
        return error;
    uint64_t index = index_position(probe->tables->choose, &table->shape, board);
    int wdl;
    error = read_value(probe, table, index, &wdl);
    if (error)
        return error;
    *value = (shashki_value){wdl, SHASHKI_NONE, SHASHKI_NONE, SHASHKI_NONE};
    if (!metrics || !wdl)
        return SHASHKI_OK;
    bool decided = wdl == SHASHKI_WIN || wdl == SHASHKI_LOSS;
    if (decided && metrics & SHASHKI_DTC)
        error = read_distance(probe, slice, &counts, DTC, index, &value->dtc);
    if (!error && metrics & SHASHKI_DTW) {
        error = read_distance(probe, slice, &counts, DTW, index, &value->dtw);
        if (value->dtw >= 0) /* the tables store half: a win has an odd number of plies, a loss an even one */
            value->dtw = 2 * value->dtw + (wdl > 0);
    }
    if (!error && decided && metrics & SHASHKI_DTB && has_balance_limit(probe->tables, board))
        error =
            read_distance(probe, slice, &counts, counts_material_separately(probe->tables, board) ? DTB : DTC,
                          index, &value->dtb);
    return error;
}

static enum shashki_error evaluate(struct probe *probe, const struct board *board, unsigned metrics,
                                   shashki_value *value);

/* Compute the value of a position with a capture from the values of the positions after its captures. */
static enum shashki_error evaluate_captures(struct probe *probe, const struct board *board, uint32_t empty,
                                            unsigned metrics, shashki_value *value)
{
    size_t first = probe->boards_count;
    enum shashki_error error = add_captures(probe, board, empty);
    size_t last = probe->boards_count;
    int best = SHASHKI_LOSS - 1, shortest = 0, longest = 0;
    bool short_unknown = false, long_unknown = false;
    unsigned dtw_metric = metrics & SHASHKI_DTW;
    for (size_t i = first; i < last && !error; i++) {
        struct board after = probe->boards[i]; /* a copy: the stack may be reallocated */
        shashki_value found;
        error = evaluate(probe, &after, dtw_metric, &found);
        if (error)
            break;
        if (-found.wdl > best)
            best = -found.wdl;
        /* DTW ignores draw rules, so the shortest win may be a cursed win. */
        if (dtw_metric && found.wdl < 0) {
            short_unknown |= found.dtw < 0;
            if (!shortest || found.dtw + 1 < shortest)
                shortest = found.dtw + 1;
        } else if (dtw_metric && found.wdl > 0) {
            long_unknown |= found.dtw < 0;
            if (found.dtw + 1 > longest)
                longest = found.dtw + 1;
        } else if (!dtw_metric && best == SHASHKI_WIN && probe->complete) {
            break;
        }
    }
    probe->boards_count = first;
    if (error)
        return error;
    *value = (shashki_value){best, SHASHKI_NONE, SHASHKI_NONE, SHASHKI_NONE};
    if (best == SHASHKI_WIN || best == SHASHKI_LOSS) {
        value->dtc = 1; /* a capture resets all counters */
        if (has_balance_limit(probe->tables, board))
            value->dtb = 1;
    }
    if (dtw_metric && best > 0)
        value->dtw = short_unknown ? SHASHKI_UNKNOWN : shortest;
    if (dtw_metric && best < 0)
        value->dtw = long_unknown ? SHASHKI_UNKNOWN : longest;
    return SHASHKI_OK;
}

/* Compute the value of any position. Only captures recurse, so the number of pieces bounds the depth. */
static enum shashki_error evaluate(struct probe *probe, const struct board *board, unsigned metrics,
                                   shashki_value *value)
{
    enum shashki_error error = count_step(probe);
    if (error)
        return error;
    uint32_t empty = empty_squares(board), opponents = board->other_men | board->other_kings;
    if (can_capture(board->own_men, board->own_kings, opponents, empty))
        return evaluate_captures(probe, board, empty, metrics, value);
    if (!has_quiet_move(board, empty)) {
        *value = LOST;
        return SHASHKI_OK;
    }
    if (!opponents) {
        *value = ONE_MOVE_WIN;
        return SHASHKI_OK;
    }
    return look_up(probe, board, metrics, value);
}

/* Compute the value of a position of the caller. */
static enum shashki_error probe_position(struct probe *probe, const shashki_position *position,
                                         unsigned metrics, shashki_value *value)
{
    struct board board;
    enum shashki_error error = read_position(position, &board);
    if (error)
        return error;
    probe->steps = 0;
    probe->complete = (int)count_pieces(&board) - 1 <= probe->tables->pieces;
    return evaluate(probe, &board, metrics, value);
}

static enum shashki_error check_arguments(const shashki_tables *tables, const void *position,
                                          const void *result)
{
    if (tables && position && result)
        return SHASHKI_OK;
    return set_errorf(SHASHKI_E_ARGUMENT, "tables, position and result must not be NULL");
}

static enum shashki_error probe_one(shashki_tables *tables, const shashki_position *position,
                                    unsigned metrics, bool cached_only, bool allow_missing,
                                    shashki_value *value)
{
    struct probe probe;
    probe_init(&probe, tables);
    probe.cached_only = cached_only;
    probe.allow_missing = allow_missing;
    enum shashki_error error = probe_position(&probe, position, metrics, value);
    probe_free(&probe);
    return error;
}

static enum shashki_error probe_outcome(shashki_tables *tables, const shashki_position *position,
                                        bool cached_only, int *wdl)
{
    shashki_value value;
    enum shashki_error error = check_arguments(tables, position, wdl);
    if (!error)
        error = probe_one(tables, position, 0, cached_only, false, &value);
    if (!error)
        *wdl = value.wdl;
    return error;
}

enum shashki_error shashki_probe_wdl(shashki_tables *tables, const shashki_position *position, int *wdl)
{
    return probe_outcome(tables, position, false, wdl);
}

enum shashki_error shashki_probe_wdl_cached(shashki_tables *tables, const shashki_position *position,
                                            int *wdl)
{
    return probe_outcome(tables, position, true, wdl);
}

static enum shashki_error probe_distance(shashki_tables *tables, const shashki_position *position,
                                         unsigned metrics, int *plies)
{
    shashki_value value;
    enum shashki_error error = check_arguments(tables, position, plies);
    if (!error)
        error = probe_one(tables, position, metrics, false, false, &value);
    if (!error)
        *plies = metrics == SHASHKI_DTC ? value.dtc : metrics == SHASHKI_DTW ? value.dtw : value.dtb;
    return error;
}

enum shashki_error shashki_probe_dtc(shashki_tables *tables, const shashki_position *position, int *plies)
{
    return probe_distance(tables, position, SHASHKI_DTC, plies);
}

enum shashki_error shashki_probe_dtw(shashki_tables *tables, const shashki_position *position, int *plies)
{
    return probe_distance(tables, position, SHASHKI_DTW, plies);
}

enum shashki_error shashki_probe_dtb(shashki_tables *tables, const shashki_position *position, int *plies)
{
    return probe_distance(tables, position, SHASHKI_DTB, plies);
}

static enum shashki_error check_options(unsigned metrics, enum shashki_read_mode mode)
{
    enum shashki_error error = check_metrics(metrics);
    if (error)
        return error;
    if (mode != SHASHKI_READ && mode != SHASHKI_CACHED)
        return set_errorf(SHASHKI_E_ARGUMENT, "mode is not a read mode: %d", mode);
    return SHASHKI_OK;
}

/* Make distances unknown that the caller did not request: captures reveal some of them. */
static void clear_unrequested(unsigned metrics, shashki_value *value)
{
    if (!(metrics & SHASHKI_DTC))
        value->dtc = SHASHKI_UNKNOWN;
    if (!(metrics & SHASHKI_DTW))
        value->dtw = SHASHKI_UNKNOWN;
    if (!(metrics & SHASHKI_DTB))
        value->dtb = SHASHKI_UNKNOWN;
}

enum shashki_error shashki_probe(shashki_tables *tables, const shashki_position *position, unsigned metrics,
                                 enum shashki_read_mode mode, shashki_value *value)
{
    shashki_value found;
    enum shashki_error error = check_arguments(tables, position, value);
    if (!error)
        error = check_options(metrics, mode);
    if (!error)
        error = probe_one(tables, position, metrics, mode == SHASHKI_CACHED, true, &found);
    if (error)
        return error;
    clear_unrequested(metrics, &found);
    *value = found;
    return SHASHKI_OK;
}

enum shashki_error shashki_probe_many(shashki_tables *tables, const shashki_position *positions, size_t count,
                                      unsigned metrics, enum shashki_read_mode mode, shashki_value *values)
{
    static const shashki_value UNKNOWN = {SHASHKI_UNKNOWN, SHASHKI_UNKNOWN, SHASHKI_UNKNOWN, SHASHKI_UNKNOWN};
    struct probe probe;
    enum shashki_error error =
        count ? check_arguments(tables, positions, values) : check_arguments(tables, tables, tables);
    if (!error)
        error = check_options(metrics, mode);
    if (error)
        return error;
    probe_init(&probe, tables);
    probe.cached_only = mode == SHASHKI_CACHED;
    probe.allow_missing = true;
    for (size_t i = 0; i < count && !error; i++) {
        error = probe_position(&probe, &positions[i], metrics, &values[i]);
        if (error == SHASHKI_E_NO_TABLE || error == SHASHKI_E_NOT_CACHED || error == SHASHKI_E_TOO_COMPLEX) {
            values[i] = UNKNOWN;
            error = SHASHKI_OK;
        }
        clear_unrequested(metrics, &values[i]);
    }
    probe_free(&probe);
    return error;
}

/* -------------------------------------------------------------------------------- moves */

static unsigned real_square(const struct probe *probe, unsigned square)
{
    return probe->black ? SQUARES - 1 - square : square;
}

static enum shashki_error add_move(struct probe *probe, const struct board *after, const uint8_t *path,
                                   unsigned squares, uint32_t captured, bool king, bool promotes)
{
    if (probe->moves_count == probe->moves_capacity) {
        shashki_move *more = realloc(probe->moves, 2 * probe->moves_capacity * sizeof *more);
        if (!more)
            return set_error(SHASHKI_E_MEMORY);
        probe->moves = more;
        probe->moves_capacity *= 2;
    }
    shashki_move *move = &probe->moves[probe->moves_count++];
    memset(move, 0, sizeof *move);
    /* `after` is the opponent's view: the real board if White moves next, else rotated. */
    if (probe->black)
        move->after = (shashki_position){after->own_men, after->own_kings, after->other_men,
                                         after->other_kings, SHASHKI_WHITE};
    else
        move->after = (shashki_position){rotate(after->other_men), rotate(after->other_kings),
                                         rotate(after->own_men), rotate(after->own_kings), SHASHKI_BLACK};
    for (unsigned i = 0; i < squares; i++)
        move->path[i] = (uint8_t)real_square(probe, path[i]);
    move->path_length = (uint8_t)squares;
    move->captured = probe->black ? rotate(captured) : captured;
    move->king = king;
    move->promotes = promotes;
    return SHASHKI_OK;
}

static enum shashki_error add_quiet_moves(struct probe *probe, const struct board *board, uint32_t empty)
{
    uint32_t pieces = board->own_men | board->own_kings;
    for (; pieces; pieces &= pieces - 1) {
        unsigned start = lowest_square(pieces);
        uint32_t bit = 1u << start;
        bool king = (board->own_kings & bit) != 0;
        for (int direction = 0; direction < (king ? DIRECTIONS : DOWN_LEFT); direction++) {
            uint32_t end = bit;
            while ((end = shift(end, direction) & empty) != 0) {
                bool promotes = !king && (end & LAST_ROW);
                uint32_t men = board->own_men & ~bit, kings = board->own_kings & ~bit;
                if (king || promotes)
                    kings |= end;
                else
                    men |= end;
                struct board after = {rotate(board->other_men), rotate(board->other_kings), rotate(men),
                                      rotate(kings)};
                const uint8_t path[2] = {(uint8_t)start, (uint8_t)lowest_square(end)};
                enum shashki_error error = add_move(probe, &after, path, 2, 0, king, promotes);
                if (error)
                    return error;
                if (!king)
                    break;
            }
        }
    }
    return SHASHKI_OK;
}

/* Write the notation of a move: start and end, or the whole path if this is ambiguous. */
static void write_notation(shashki_move *move, bool ambiguous)
{
    char *at = move->notation;
    for (unsigned i = 0; i < move->path_length; i++) {
        if (i && i + 1 < move->path_length && !ambiguous)
            continue;
        unsigned row = move->path[i] / 4u, column = 2 * (move->path[i] % 4u) + row % 2;
        if (i)
            *at++ = move->captured ? ':' : '-';
        *at++ = (char)('a' + column);
        *at++ = (char)('1' + row);
    }
    *at = '\0';
}

/* Write the notations of all moves. Captures with the same start and end are ambiguous. */
static void write_notations(struct probe *probe)
{
    shashki_move *moves = probe->moves;
    for (size_t i = 0; i < probe->moves_count; i++) {
        bool ambiguous = false;
        for (size_t j = 0; j < probe->moves_count && moves[i].captured; j++)
            ambiguous |= j != i && moves[j].path[0] == moves[i].path[0] &&
                         moves[j].path[moves[j].path_length - 1] == moves[i].path[moves[i].path_length - 1];
        write_notation(&moves[i], ambiguous);
    }
}

/* Keep the first of several captures that lead to the same position, such as two directions around a ring. */
static void remove_duplicates(struct probe *probe)
{
    shashki_move *moves = probe->moves;
    size_t kept = 0;
    for (size_t i = 0; i < probe->moves_count; i++) {
        bool duplicate = false;
        for (size_t j = 0; j < kept && moves[i].captured && !duplicate; j++)
            duplicate = memcmp(&moves[j].after, &moves[i].after, sizeof moves[i].after) == 0;
        if (!duplicate)
            moves[kept++] = moves[i];
    }
    probe->moves_count = kept;
}

static enum shashki_error generate_moves(struct probe *probe, const struct board *board)
{
    uint32_t empty = empty_squares(board);
    probe->moves_capacity = INLINE_ITEMS;
    probe->moves = malloc(probe->moves_capacity * sizeof *probe->moves);
    if (!probe->moves)
        return set_error(SHASHKI_E_MEMORY);
    probe->list_moves = true;
    enum shashki_error error =
        can_capture(board->own_men, board->own_kings, board->other_men | board->other_kings, empty)
            ? add_captures(probe, board, empty)
            : add_quiet_moves(probe, board, empty);
    probe->list_moves = false;
    if (!error) {
        write_notations(probe); /* a removed duplicate still makes a notation ambiguous */
        remove_duplicates(probe);
    }
    return error;
}

/* Return the distance before a move from the one after it. `reached`: whether the move is the goal. */
static int32_t distance_before(int32_t plies, bool reached)
{
    return reached ? 1 : plies < 0 ? plies : plies + 1;
}

/* Compute the value of a move from the value of the position after it. That value assumes fresh counters, but
 * the move itself counts: a win that needs all plies of a limit after the move is drawn. */
static void score_move(const shashki_tables *tables, const struct board *board, shashki_move *move,
                       const shashki_value *after)
{
    bool counted = has_balance_limit(tables, board);
    bool zeroing = move->captured || !move->king, material_change = move->captured || move->promotes;
    shashki_value *own = &move->value;
    own->wdl = -after->wdl;
    own->dtw = distance_before(after->dtw, false);
    own->dtc = own->dtb = SHASHKI_NONE;
    if (own->wdl != SHASHKI_WIN && own->wdl != SHASHKI_LOSS)
        return;
    int32_t dtc = distance_before(after->dtc, zeroing), dtb = distance_before(after->dtb, material_change);
    if ((!zeroing && dtc > KING_MOVES_PLIES) ||
        (!material_change && counted && dtb > balance_limit(tables, count_pieces(board)))) {
        own->wdl = own->wdl > 0 ? SHASHKI_CURSED_WIN : SHASHKI_BLESSED_LOSS;
        return;
    }
    own->dtc = dtc;
    own->dtb = counted ? dtb : SHASHKI_NONE;
}

/* Make winning moves cursed wins if the position itself is a cursed win. The two counters together can draw a
 * game that each of them alone would let win; only the table of the position shows this. */
static enum shashki_error curse_wins(struct probe *probe, const struct board *board)
{
    bool wins = false;
    shashki_value own;
    for (size_t i = 0; i < probe->moves_count; i++)
        wins |= probe->moves[i].value.wdl == SHASHKI_WIN;
    if (!wins || !counts_material_separately(probe->tables, board))
        return SHASHKI_OK;
    probe->steps = 0;
    enum shashki_error error = evaluate(probe, board, 0, &own);
    if (error == SHASHKI_E_NO_TABLE)
        return SHASHKI_OK;
    for (size_t i = 0; i < probe->moves_count && !error && own.wdl == SHASHKI_CURSED_WIN; i++) {
        shashki_value *value = &probe->moves[i].value;
        if (value->wdl == SHASHKI_WIN)
            *value = (shashki_value){SHASHKI_CURSED_WIN, SHASHKI_NONE, value->dtw, SHASHKI_NONE};
    }
    return error;
}

/* Compare two distances for the order of moves; unknown ones come last. */
static int compare_distances(int32_t a, int32_t b, bool falling)
{
    if ((a < 0) != (b < 0))
        return a < 0 ? 1 : -1;
    if (a < 0 || a == b)
        return 0;
    return (a < b) != falling ? -1 : 1;
}

/* Compare two moves, best first. shashki_probe_moves() describes the order. */
static int compare_moves(const void *one, const void *two)
{
    const shashki_move *a = one, *b = two;
    if (a->value.wdl != b->value.wdl)
        return a->value.wdl > b->value.wdl ? -1 : 1;
    int32_t wdl = a->value.wdl;
    int order = 0;
    if (wdl == SHASHKI_WIN || wdl == SHASHKI_LOSS)
        order = compare_distances(a->value.dtc, b->value.dtc, wdl < 0);
    if (!order && wdl != SHASHKI_DRAW && wdl != SHASHKI_UNKNOWN)
        order = compare_distances(a->value.dtw, b->value.dtw, wdl < 0);
    return order ? order : strcmp(a->notation, b->notation);
}

static enum shashki_error score_moves(struct probe *probe, const struct board *board)
{
    enum shashki_error error = generate_moves(probe, board);
    probe->complete = (int)count_pieces(board) - 1 <= probe->tables->pieces;
    for (size_t i = 0; i < probe->moves_count && !error; i++) {
        struct board after;
        shashki_move *move = &probe->moves[i];
        shashki_value value = {SHASHKI_UNKNOWN, SHASHKI_UNKNOWN, SHASHKI_UNKNOWN, SHASHKI_UNKNOWN};
        move->value = value;
        probe->steps = 0;
        error = read_position(&move->after, &after);
        if (!error)
            error = evaluate(probe, &after, ALL_METRICS, &value);
        if (!error)
            score_move(probe->tables, board, move, &value);
        else if (error == SHASHKI_E_NO_TABLE)
            error = SHASHKI_OK;
    }
    return error;
}

enum shashki_error shashki_probe_moves(shashki_tables *tables, const shashki_position *position,
                                       shashki_move *moves, size_t capacity, size_t *count)
{
    struct probe probe;
    struct board board;
    enum shashki_error error = check_arguments(tables, position, count);
    if (!error && !moves && capacity)
        error = set_errorf(SHASHKI_E_ARGUMENT, "moves is NULL, but capacity is not 0");
    if (!error)
        error = read_position(position, &board);
    if (error)
        return error;
    probe_init(&probe, tables);
    probe.allow_missing = true;
    probe.black = position->side == SHASHKI_BLACK;
    error = score_moves(&probe, &board);
    if (!error)
        error = curse_wins(&probe, &board);
    if (!error) {
        qsort(probe.moves, probe.moves_count, sizeof *probe.moves, compare_moves);
        *count = probe.moves_count;
        if (capacity)
            memcpy(moves, probe.moves,
                   (capacity < probe.moves_count ? capacity : probe.moves_count) * sizeof *moves);
    }
    probe_free(&probe);
    return error;
}
