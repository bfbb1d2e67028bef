/* Probing the endgame tables of Russian draughts: see shashki_probe.h and docs/probe.md.
 *
 * Sections: errors; the board; captures; the index; the cache; the set; table files; frames; opening; values; moves.
 *
 * "Own" and "other" are the side to move and its opponent, on a board turned so that own men move up.
 *
 * Threads. A set is shared by all threads as it is; nothing belongs to one of them but the text of its last error.
 * There is no lock anywhere: what is made on demand (an open table, a list of block numbers, room to decode in) is
 * made by whoever needs it first and published by one compare-and-swap, and who comes second throws its own away.
 * How frames are shared is told at the cache.
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
#error "this library takes a compiler with the __atomic builtins of gcc and clang"
#endif

/* The three orders of C11 that are used, by the builtins, so that C99 is enough. */
#define LOAD(place) __atomic_load_n(place, __ATOMIC_ACQUIRE)
#define STORE(place, value) __atomic_store_n(place, value, __ATOMIC_RELEASE)
#define LOAD_RELAXED(place) __atomic_load_n(place, __ATOMIC_RELAXED)
#define STORE_RELAXED(place, value) __atomic_store_n(place, value, __ATOMIC_RELAXED)
#define ADD(place, value) __atomic_fetch_add(place, value, __ATOMIC_RELAXED)
#define REPLACE(place, expected, value) \
    __atomic_compare_exchange_n(place, expected, value, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)

#define LIKELY(condition) __builtin_expect(!!(condition), 1)
#define ALWAYS_INLINE static inline __attribute__((always_inline))

enum {
    SQUARES = 32,
    MEN_SQUARES = 28,       /* where a man may stand: anywhere but on its own last row */
    MOST_PIECES = 10,       /* of a table; more are out of reach, and their counts would outgrow 64 bits one day */
    MOST_KIND = 9,          /* pieces of one kind in a table: the other side has one at least */
    METRICS = 4,
    WDL = 0,                /* the others are DTC, DTW, DTB, in the order of the bits SHASHKI_DTC ... */
    DTC = 1,
    DTW = 2,
    DTB = 3,
    KING_MOVES_PLIES = 30,  /* by kings only and without a capture: a draw, under both rulesets */
    HEADER_SIZE = 128,
    FORMAT_VERSION = 2,
    MAX_FRAME_SIZE = 65536,
    FEW = 128,              /* positions after captures that a probe has room for without asking for memory */
    MOST_STEPS = 200000,    /* of captures that one question follows, so that none takes for ever */
    WORKSPACES = 64         /* rooms to decode in that are kept; more threads than that make their own each time */
};

#define ALL_WANTED (SHASHKI_DTC | SHASHKI_DTW | SHASHKI_DTB)
#define ALL_SQUARES 0xFFFFFFFFu
#define FIRST_ROW 0x0000000Fu
#define LAST_ROW 0xF0000000u

/* ---------------------------------------------------------------------------------------------------- errors */

static __thread char last_text[512];
static __thread int last_error;

const char *shashki_error_text(int error)
{
    switch (error) {
    case SHASHKI_OK: return "no error";
    case SHASHKI_E_ARGUMENT: return "an argument makes no sense";
    case SHASHKI_E_POSITION: return "pieces that cannot stand so: two on one square, or a man on its own last row";
    case SHASHKI_E_NO_TABLE: return "the table that it takes is not there";
    case SHASHKI_E_NOT_CACHED: return "it takes a part of a table that is not in memory";
    case SHASHKI_E_DIRECTORY: return "there is no such directory, or it cannot be read";
    case SHASHKI_E_NOT_A_TABLE: return "a file with the name of a table is no table";
    case SHASHKI_E_VERSION: return "tables of another version of the format, or of other draw rules";
    case SHASHKI_E_TRUNCATED: return "a table file is shorter or longer than it says";
    case SHASHKI_E_HEADER: return "a table file is damaged in its header, alphabet or frame index";
    case SHASHKI_E_FRAME: return "a table file is damaged in a frame";
    case SHASHKI_E_READ: return "the system cannot read a table file";
    case SHASHKI_E_MEMORY: return "there is not enough memory";
    case SHASHKI_E_TOO_COMPLEX: return "the position has more captures than are followed";
    default: return "no error has this number";
    }
}

const char *shashki_last_error(void)
{
    return last_text[0] ? last_text : shashki_error_text(last_error);
}

/* An error whose general text is all that there is to say; it costs nothing, as probes may fail by the million. */
static int fail(int error)
{
    last_error = error;
    last_text[0] = '\0';
    return error;
}

__attribute__((format(printf, 2, 3))) static int fail_with(int error, const char *format, ...)
{
    va_list arguments;
    last_error = error;
    va_start(arguments, format);
    vsnprintf(last_text, sizeof last_text, format, arguments);
    va_end(arguments);
    return error;
}

/* ---------------------------------------------------------------------------------------------------- the board */

/* A position as its side to move sees it. */
struct board {
    uint32_t own_men, own_kings, other_men, other_kings;
};

enum { UP_LEFT, UP_RIGHT, DOWN_LEFT, DOWN_RIGHT, DIRECTIONS };

/* For each direction and square, the squares that follow it up to the edge. */
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

/* Where the processor that is compiled for has no such instruction, the builtin is a call. */
static inline unsigned count_of(uint32_t set)
{
#if defined(__POPCNT__) || defined(__aarch64__)
    return (unsigned)__builtin_popcount(set);
#else
    set -= set >> 1 & 0x55555555u;
    set = (set & 0x33333333u) + (set >> 2 & 0x33333333u);
    return ((set + (set >> 4)) & 0x0F0F0F0Fu) * 0x01010101u >> 24;
#endif
}

static inline unsigned lowest(uint32_t set) { return (unsigned)__builtin_ctz(set); }
static inline unsigned highest(uint32_t set) { return 31u - (unsigned)__builtin_clz(set); }

/* Square s becomes 31 - s. */
static inline uint32_t turned(uint32_t set)
{
    set = __builtin_bswap32(set);
    set = (set >> 4 & 0x0F0F0F0Fu) | (set & 0x0F0F0F0Fu) << 4;
    set = (set >> 2 & 0x33333333u) | (set & 0x33333333u) << 2;
    return (set >> 1 & 0x55555555u) | (set & 0x55555555u) << 1;
}

/* The squares one step further; those that would leave the board are dropped. The even rows, counted from 0, begin
 * on the a file, the odd ones end on the h file. */
ALWAYS_INLINE uint32_t step(uint32_t set, int direction)
{
    switch (direction) {
    case UP_LEFT: return (set & 0x0E0E0E0Eu) << 3 | (set & 0xF0F0F0F0u) << 4;
    case UP_RIGHT: return (set & 0x0F0F0F0Fu) << 4 | (set & 0x70707070u) << 5;
    case DOWN_LEFT: return (set & 0x0E0E0E0Eu) >> 5 | (set & 0xF0F0F0F0u) >> 4;
    default: return (set & 0x0F0F0F0Fu) >> 4 | (set & 0x70707070u) >> 3;
    }
}

/* The nearest of some squares of a ray. */
ALWAYS_INLINE unsigned nearest(uint32_t set, int direction)
{
    return direction <= UP_RIGHT ? lowest(set) : highest(set);
}

ALWAYS_INLINE bool captures_towards(int direction, uint32_t men, uint32_t kings, uint32_t victims, uint32_t empty)
{
    uint32_t reached = men | kings, front = step(kings, direction) & empty;
    while (front) {
        reached |= front;
        front = step(front, direction) & empty;
    }
    return (step(step(reached, direction) & victims, direction) & empty) != 0;
}

/* Whether any of these men and kings can take one of the victims, all looked at together. */
static inline bool can_capture(uint32_t men, uint32_t kings, uint32_t victims, uint32_t empty)
{
    return captures_towards(UP_LEFT, men, kings, victims, empty) ||
           captures_towards(UP_RIGHT, men, kings, victims, empty) ||
           captures_towards(DOWN_LEFT, men, kings, victims, empty) ||
           captures_towards(DOWN_RIGHT, men, kings, victims, empty);
}

static inline bool has_quiet_move(const struct board *board, uint32_t empty)
{
    uint32_t up = board->own_men | board->own_kings;
    uint32_t reached = step(up, UP_LEFT) | step(up, UP_RIGHT) | step(board->own_kings, DOWN_LEFT) |
                       step(board->own_kings, DOWN_RIGHT);
    return (reached & empty) != 0;
}

static inline uint32_t empty_squares(const struct board *board)
{
    return ALL_SQUARES & ~(board->own_men | board->own_kings | board->other_men | board->other_kings);
}

static inline unsigned pieces_of(const struct board *board)
{
    return count_of(board->own_men | board->own_kings | board->other_men | board->other_kings);
}

static int read_position(const shashki_position *position, struct board *board)
{
    uint32_t wm = position->white_men, wk = position->white_kings;
    uint32_t bm = position->black_men, bk = position->black_kings;
    if (((wm & wk) | (bm & bk) | ((wm | wk) & (bm | bk)) | (wm & LAST_ROW) | (bm & FIRST_ROW)) != 0)
        return fail(SHASHKI_E_POSITION);
    if (position->side > SHASHKI_BLACK)
        return fail_with(SHASHKI_E_POSITION, "%lu is no side to move", (unsigned long)position->side);
    if (position->side == SHASHKI_WHITE)
        *board = (struct board){wm, wk, bm, bk};
    else
        *board = (struct board){turned(bm), turned(bk), turned(wm), turned(wk)};
    return SHASHKI_OK;
}

/* ---------------------------------------------------------------------------------------------------- captures */

/* A capture under way, as far as what can come of it goes: a second route to the same has nothing new to find. */
struct state {
    uint32_t taken;
    uint8_t square;
    uint8_t king;
};

/* Everything that grows while one question is answered. Positions that captures lead to stand behind one another:
 * those of the position asked about first, then those of its first successor, and so on, as a stack. */
struct probe {
    shashki_tables *set;
    bool cached_only;
    bool lenient;  /* whether a distance without a table is unknown, and no error */
    bool complete; /* whether no capture can lead to a position without an outcome */
    bool black;    /* whether the board is turned: then moves are found in the order of the board as it is */
    bool listing;  /* whether captures are listed as moves; else what they lead to is followed */
    unsigned steps;
    struct board *boards;
    size_t boards_count, boards_room;
    struct state *states;
    size_t states_count, states_room;
    shashki_move *moves; /* of a root */
    size_t moves_count, moves_room;
    struct board few_boards[FEW];
    struct state few_states[FEW];
};

static void begin(struct probe *probe, shashki_tables *set)
{
    memset(probe, 0, offsetof(struct probe, few_boards));
    probe->set = set;
    probe->boards = probe->few_boards;
    probe->states = probe->few_states;
    probe->boards_room = probe->states_room = FEW;
}

static void end(struct probe *probe)
{
    if (probe->boards != probe->few_boards)
        free(probe->boards);
    if (probe->states != probe->few_states)
        free(probe->states);
    free(probe->moves);
}

/* Twice the room, out of the first place that was no allocation. */
static void *grown(void *items, const void *first, size_t *room, size_t size)
{
    void *more = realloc(items == first ? NULL : items, 2 * *room * size);
    if (!more)
        return NULL;
    if (items == first)
        memcpy(more, first, *room * size);
    *room *= 2;
    return more;
}

static int add_board(struct probe *probe, const struct board *board)
{
    if (probe->boards_count == probe->boards_room) {
        struct board *more =
            grown(probe->boards, probe->few_boards, &probe->boards_room, sizeof *probe->boards);
        if (!more)
            return fail(SHASHKI_E_MEMORY);
        probe->boards = more;
    }
    probe->boards[probe->boards_count++] = *board;
    return SHASHKI_OK;
}

static int add_step(struct probe *probe)
{
    return LIKELY(++probe->steps <= MOST_STEPS) ? SHASHKI_OK : fail(SHASHKI_E_TOO_COMPLEX);
}

/* A capturing piece, and what it finds. */
struct walk {
    struct probe *probe;
    const struct board *board;
    unsigned start;
    bool king; /* before the move */
    uint32_t others;
    uint32_t empty; /* the square it started from among them; captured pieces leave when the whole move is over */
    unsigned depth;
    uint8_t path[SHASHKI_MOST_SQUARES];
};

static int add_move(struct probe *probe, const struct board *after, const uint8_t *path, unsigned squares,
                    uint32_t captured, bool king, bool promotes);

static int arrived(struct walk *walk, uint32_t taken, bool king)
{
    const struct board *board = walk->board;
    uint32_t start = 1u << walk->start, end = 1u << walk->path[walk->depth];
    uint32_t men = board->own_men & ~start, kings = board->own_kings & ~start;
    if (king)
        kings |= end;
    else
        men |= end;
    struct board after = {turned(board->other_men & ~taken), turned(board->other_kings & ~taken), turned(men),
                          turned(kings)};
    if (walk->probe->listing)
        return add_move(walk->probe, &after, walk->path, walk->depth + 1, taken, walk->king, king && !walk->king);
    return add_board(walk->probe, &after);
}

/* Where a piece on a square lands if it takes a piece in this direction; 0 if it cannot. */
static inline uint32_t landings_of(const struct walk *walk, unsigned square, bool king, uint32_t taken,
                                   int direction, uint32_t *victim)
{
    uint32_t ray = RAYS[direction][square];
    uint32_t ahead = king ? ray & ~walk->empty : ray;
    if (!ahead)
        return 0;
    unsigned met = nearest(ahead, direction);
    *victim = 1u << met;
    if (!(*victim & walk->others & ~taken))
        return 0;
    uint32_t behind = RAYS[direction][met], blocked = behind & ~walk->empty;
    if (blocked) {
        unsigned edge = nearest(blocked, direction);
        behind &= ~(RAYS[direction][edge] | 1u << edge);
    }
    if (behind && !king)
        behind = 1u << nearest(behind, direction);
    return behind;
}

/* Add a state, unless it has been seen of this piece. */
static int add_state(struct probe *probe, struct state state, bool *seen)
{
    *seen = false;
    for (size_t i = 0; i < probe->states_count && !*seen; i++)
        *seen = probe->states[i].taken == state.taken && probe->states[i].square == state.square &&
                probe->states[i].king == state.king;
    if (*seen)
        return SHASHKI_OK;
    if (probe->states_count == probe->states_room) {
        struct state *more = grown(probe->states, probe->few_states, &probe->states_room, sizeof *probe->states);
        if (!more)
            return fail(SHASHKI_E_MEMORY);
        probe->states = more;
    }
    probe->states[probe->states_count++] = state;
    return add_step(probe);
}

/* Follow every way of carrying a capture on. The recursion is as deep as there are pieces to take. */
static int carry_on(struct walk *walk, bool king, uint32_t taken)
{
    struct probe *probe = walk->probe;
    unsigned square = walk->path[walk->depth];
    for (int turn = 0; turn < DIRECTIONS; turn++) {
        int direction = probe->black ? DIRECTIONS - 1 - turn : turn;
        uint32_t victim = 0, landings = landings_of(walk, square, king, taken, direction, &victim);
        if (!landings)
            continue;
        uint32_t taken_now = taken | victim, left = walk->others & ~taken_now;
        bool king_now = king || (landings & LAST_ROW);
        uint32_t as_men = king_now ? 0 : landings, as_kings = king_now ? landings : 0;
        uint32_t going_on = 0;
        if (left && can_capture(as_men, as_kings, left, walk->empty)) {
            /* Where it can go on from one of the squares it must not stop on another. */
            for (uint32_t rest = landings; rest; rest &= rest - 1) {
                uint32_t one = rest & -rest;
                if (can_capture(as_men & one, as_kings & one, left, walk->empty))
                    going_on |= one;
            }
            landings = going_on;
        }
        while (landings) {
            unsigned landing = nearest(landings, direction);
            landings &= ~(1u << landing);
            bool seen;
            int error = add_state(probe, (struct state){taken_now, (uint8_t)landing, king_now}, &seen);
            if (error)
                return error;
            if (seen)
                continue;
            walk->path[++walk->depth] = (uint8_t)landing;
            error = going_on ? carry_on(walk, king_now, taken_now) : arrived(walk, taken_now, king_now);
            walk->depth--;
            if (error)
                return error;
        }
    }
    return SHASHKI_OK;
}

/* Add what all captures of a position lead to, each seen by the opponent. */
static int add_captures(struct probe *probe, const struct board *board, uint32_t empty)
{
    uint32_t others = board->other_men | board->other_kings;
    uint32_t pieces = board->own_men | board->own_kings;
    while (pieces) {
        unsigned start = probe->black ? highest(pieces) : lowest(pieces);
        uint32_t bit = 1u << start;
        pieces &= ~bit;
        bool king = (board->own_kings & bit) != 0;
        if (!can_capture(king ? 0 : bit, king ? bit : 0, others, empty))
            continue;
        struct walk walk = {.probe = probe, .board = board, .start = start, .king = king, .others = others};
        walk.empty = empty | bit;
        walk.path[0] = (uint8_t)start;
        probe->states_count = 0;
        int error = carry_on(&walk, king, 0);
        if (error)
            return error;
    }
    return SHASHKI_OK;
}

/* ---------------------------------------------------------------------------------------------------- the index */

/* What the index of a slice is made of. */
struct shape {
    bool own_outer;         /* whether blocks are numbered by own men first: those of the weaker side */
    unsigned own_kings, own_men, other_kings, other_men;
    uint64_t block_size;    /* positions that share a placement of all men */
    uint64_t owns;          /* placements of own kings once all else stands */
    uint64_t positions;
    const uint64_t *firsts; /* the first block of each placement of the men numbered first; last, the blocks */
};

/* C(n, k), by k first: ranking asks of one k after another. */
typedef uint32_t binomials[MOST_KIND + 1][SQUARES + 1];

static void fill_binomials(binomials choose)
{
    for (unsigned n = 0; n <= SQUARES; n++) {
        choose[0][n] = 1;
        for (unsigned k = 1; k <= MOST_KIND; k++)
            choose[k][n] = n ? choose[k][n - 1] + choose[k - 1][n - 1] : 0;
    }
}

/* The colexicographic rank of a set among the sets of as many squares of `among`. */
static inline uint64_t rank_of(binomials choose, uint32_t set, uint32_t among)
{
    uint64_t rank = 0;
    for (unsigned k = 1; set; k++, set &= set - 1)
        rank += choose[k][count_of(among & ((set & -set) - 1))];
    return rank;
}

static uint64_t index_of(binomials choose, const struct shape *shape, const struct board *board)
{
    uint32_t own = board->own_men, other = board->other_men, men = own | other;
    uint64_t block = 0;
    if (men)
        block = shape->own_outer
                    ? shape->firsts[rank_of(choose, own, ~LAST_ROW)] + rank_of(choose, other, ~FIRST_ROW & ~own)
                    : shape->firsts[rank_of(choose, other, ~FIRST_ROW)] + rank_of(choose, own, ~LAST_ROW & ~other);
    return block * shape->block_size + rank_of(choose, board->other_kings, ~men) * shape->owns +
           rank_of(choose, board->own_kings, ~(men | board->other_kings));
}

/* The running sum over the placements of the men that are numbered first; NULL without memory. */
static uint64_t *new_firsts(binomials choose, bool own_outer, unsigned outer, unsigned inner)
{
    size_t placements = choose[outer][MEN_SQUARES];
    uint64_t *firsts = malloc((placements + 1) * sizeof *firsts);
    if (!firsts)
        return NULL;
    uint64_t men = ((uint64_t)1 << outer) - 1, sum = 0;
    unsigned shift = own_outer ? 0 : 4; /* the other side's men stand on squares 4..31 */
    uint32_t inner_squares = own_outer ? ~FIRST_ROW : ~LAST_ROW;
    for (size_t place = 0; place < placements; place++) {
        firsts[place] = sum;
        sum += choose[inner][count_of(inner_squares & ~(uint32_t)(men << shift))];
        if (men) { /* the next greater number of as many bits: colexicographic order is that of numbers */
            uint64_t low = men & -men, up = men + low;
            men = up | (((men ^ up) / low) >> 2);
        }
    }
    firsts[placements] = sum;
    return firsts;
}

/* ---------------------------------------------------------------------------------------------------- the cache */

/* One budget of bytes for the decoded frames of all tables, cut into slots as large as the largest frame.
 *
 * A table has, for each frame, the number of the slot in which it was last put (`places`), so that a look-up is two
 * steps and no search. That number is a hint: the slot says itself whose frame it holds. A slot is a sequence lock:
 *
 * - Who writes one makes its version odd, by a compare-and-swap that only one thread can win; then stores whose frame
 *   it is and the frame, word by word; then makes the version even again. All these stores release.
 * - Who reads one loads the version (acquire; odd: no luck), whose frame it is, and the one word that has the value
 *   (both acquire), and then the version once more. If it is the same, the word is what belongs to that version: had
 *   it been of a later writer, then having acquired it the reader could not see a version older than that writer's
 *   odd one; and as the first load acquired the version, the word cannot be older either.
 *
 * So every access to shared memory is atomic, there is no data race in the sense of C11, and a reader never waits,
 * nor does it write, save a byte that says that the slot is in use, where it does not say so already. A reader that
 * has no luck decodes the frame itself; two threads that want one at once both do. The slot to overwrite is found
 * by a clock: the hand passes slots that were used since it last came by.
 */

typedef size_t word; /* what frames are kept in: what every processor reads whole */

struct slot {
    size_t version;
    uint32_t table;
    uint32_t frame;
    unsigned char used;
};

struct cache {
    size_t slots;
    size_t slot_words;
    struct slot *heads;
    word *words;
    size_t hand;
};

/* No slots at all where the budget is less than a frame: then nothing is kept. No more than there are frames, however
 * much is allowed, but for some that threads decode at the same moment. */
static int cache_init(struct cache *cache, size_t bytes, size_t frame_bytes, uint64_t frames)
{
    cache->slot_words = (frame_bytes + sizeof(word) - 1) / sizeof(word);
    cache->slots = frame_bytes ? bytes / (sizeof(struct slot) + cache->slot_words * sizeof(word)) : 0;
    if (cache->slots > frames + WORKSPACES)
        cache->slots = (size_t)frames + WORKSPACES;
    if (cache->slots > UINT32_MAX - 1)
        cache->slots = UINT32_MAX - 1;
    if (!cache->slots)
        return SHASHKI_OK;
    cache->heads = calloc(cache->slots, sizeof *cache->heads);
    cache->words = malloc(cache->slots * cache->slot_words * sizeof(word));
    if (cache->heads && cache->words)
        return SHASHKI_OK;
    return fail_with(SHASHKI_E_MEMORY, "there is not enough memory for a cache of %zu frames of %zu bytes",
                     cache->slots, frame_bytes);
}

static void cache_free(struct cache *cache)
{
    free(cache->heads);
    free(cache->words);
}

/* The byte at a place of a word, as it stands in memory. */
static inline unsigned byte_of(word unit, size_t place)
{
    unsigned char bytes[sizeof unit];
    memcpy(bytes, &unit, sizeof unit);
    return bytes[place];
}

/* Read the word of a frame that has the byte at `at`; false if the frame is not there. */
static inline bool cache_read(struct cache *cache, uint32_t place, uint32_t table, uint32_t frame, size_t at,
                              word *found)
{
    if (!place)
        return false;
    struct slot *slot = &cache->heads[place - 1];
    size_t version = LOAD(&slot->version);
    if (version & 1 || LOAD(&slot->table) != table || LOAD(&slot->frame) != frame)
        return false;
    *found = LOAD(&cache->words[(place - 1) * cache->slot_words + at / sizeof(word)]);
    if (LOAD_RELAXED(&slot->version) != version)
        return false;
    if (!LOAD_RELAXED(&slot->used))
        STORE_RELAXED(&slot->used, 1);
    return true;
}

/* Take a slot for writing: its version is odd then. 0 where every one is being written, else its number + 1. */
static uint32_t cache_claim(struct cache *cache)
{
    for (size_t tries = 2 * cache->slots + 2; cache->slots && tries; tries--) {
        size_t number = ADD(&cache->hand, 1) % cache->slots;
        struct slot *slot = &cache->heads[number];
        size_t version = LOAD(&slot->version);
        if (version & 1)
            continue;
        if (LOAD_RELAXED(&slot->used)) {
            STORE_RELAXED(&slot->used, 0);
            continue;
        }
        if (REPLACE(&slot->version, &version, version + 1))
            return (uint32_t)number + 1;
    }
    return 0;
}

/* Where preloading stands. */
struct loading {
    size_t room;         /* frames that there is still room for */
    size_t left_out;     /* those that there was none for */
    size_t next;         /* the slot to look at next */
    unsigned char *keep; /* of each slot: whether a frame that is wanted was in it already */
    bool reading;        /* at first it is only looked what is there */
};

/* Take the next slot that has nothing that is wanted: the clock does not know what that is. 0 behind the last. */
static uint32_t cache_claim_next(struct cache *cache, struct loading *loading)
{
    while (loading->next < cache->slots) {
        size_t number = loading->next++;
        struct slot *slot = &cache->heads[number];
        size_t version = LOAD(&slot->version);
        if (!loading->keep[number] && !(version & 1) && REPLACE(&slot->version, &version, version + 1))
            return (uint32_t)number + 1;
    }
    return 0;
}

/* Fill a claimed slot, and let readers in. */
static void cache_fill(struct cache *cache, uint32_t place, uint32_t table, uint32_t frame, const word *words,
                       size_t bytes)
{
    struct slot *slot = &cache->heads[place - 1];
    word *kept = &cache->words[(place - 1) * cache->slot_words];
    STORE(&slot->table, table);
    STORE(&slot->frame, frame);
    for (size_t i = 0; i < (bytes + sizeof(word) - 1) / sizeof(word); i++)
        STORE(&kept[i], words[i]);
    STORE_RELAXED(&slot->used, 1);
    STORE(&slot->version, LOAD_RELAXED(&slot->version) + 1);
}

/* ---------------------------------------------------------------------------------------------------- the set */

/* An open table: what its file says of itself. Once published it does not change, but for `places`. */
struct table {
    struct shape shape;
    uint32_t number; /* in its set; never 0, which stands for an empty slot */
    uint32_t symbols;
    uint32_t per_byte;
    uint32_t value_bytes;
    uint64_t frame_values;
    uint32_t frame_size;
    uint32_t frames;
    uint32_t *places;   /* of each frame: the slot of the cache that has it, + 1; 0 for none */
    uint64_t *ends;     /* of each frame, in the file */
    uint64_t first;     /* where the first one begins */
    uint32_t powers[8]; /* 2^16 / symbols^r, rounded up, to divide bytes by them */
    int16_t *alphabet;
    int file; /* kept open; -1 where too many are */
    dev_t device;
    ino_t inode;
    char name[48];
};

struct slice {
    unsigned known; /* which of the tables are there, a bit for each */
    struct table *tables[METRICS];
};

struct workspace {
    ZSTD_DCtx *context;
    unsigned char *compressed;
    word *decoded;
};

struct shashki_tables {
    struct slice *slices; /* by the counts of a material: see slice_of */
    struct cache cache;
    binomials choose;
    uint64_t *firsts[2][MOST_KIND + 1][MOST_KIND + 1];
    struct workspace *workspaces[WORKSPACES];
    long most_files; /* that may be kept open, of all sets together */
    int pieces;
    bool official; /* the ruleset: official, or king-moves-only */
    uint64_t frames_read, bytes_read;
    DIR *directory; /* kept open, so that it stays the same one wherever the process goes */
};

static const char *const METRIC_NAMES[METRICS] = {"wdl", "dtc", "dtw", "dtb"};

enum { KINDS = MOST_KIND + 1, SLICES = KINDS * KINDS * KINDS * KINDS, MOST_NAME = MOST_PIECES + 6 };

ALWAYS_INLINE unsigned slice_number(unsigned own_kings, unsigned own_men, unsigned other_kings, unsigned other_men)
{
    return ((own_kings * KINDS + own_men) * KINDS + other_kings) * KINDS + other_men;
}

static void write_name(char *name, const struct shape *shape, int metric)
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

/* Read `KKMvK.wdl`: kings before men, a piece or more on each side, no more than a table may have. */
static bool read_name(const char *name, struct shape *shape, int *metric)
{
    size_t length = strspn(name, "KMv");
    if (length > MOST_PIECES + 1 || name[length] != '.')
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
    if (*name++ != '.' || shape->own_kings + shape->own_men == 0 || shape->other_kings + shape->other_men == 0)
        return false;
    for (*metric = 0; *metric < METRICS; ++*metric)
        if (strcmp(name, METRIC_NAMES[*metric]) == 0)
            return true;
    return false;
}

/* ---------------------------------------------------------------------------------------------------- table files */

static uint16_t u16(const unsigned char *at) { return (uint16_t)(at[0] | at[1] << 8); }
static uint32_t u32(const unsigned char *at) { return u16(at) | (uint32_t)u16(at + 2) << 16; }
static uint64_t u64(const unsigned char *at) { return u32(at) | (uint64_t)u32(at + 4) << 32; }

static uint32_t crc32_of(const unsigned char *bytes, size_t length)
{
    static const uint32_t NIBBLES[16] = {0x00000000, 0x1DB71064, 0x3B6E20C8, 0x26D930AC, 0x76DC4190, 0x6B6B51F4,
                                         0x4DB26158, 0x5005713C, 0xEDB88320, 0xF00F9344, 0xD6D6A3E8, 0xCB61B38C,
                                         0x9B64C2B0, 0x86D3D2D4, 0xA00AE278, 0xBDBDF21C};
    uint32_t crc = ~0u;
    while (length--) {
        crc ^= *bytes++;
        crc = crc >> 4 ^ NIBBLES[crc & 15];
        crc = crc >> 4 ^ NIBBLES[crc & 15];
    }
    return ~crc;
}

/* Whether a text field, filled up with zero bytes, has this text. */
static bool is_text(const unsigned char *field, size_t width, const char *text)
{
    size_t length = strlen(text);
    if (length > width || memcmp(field, text, length) != 0)
        return false;
    while (length < width)
        if (field[length++])
            return false;
    return true;
}

static int read_at(int file, unsigned char *bytes, size_t length, uint64_t offset, size_t *done)
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

/* What is looked at of every file when a set is opened: the version, and the ruleset if damage does not hide it. */
static int check_version(const unsigned char *header, const char *name, bool *known, bool *official)
{
    *known = false;
    if (memcmp(header, MAGIC, sizeof MAGIC) != 0)
        return SHASHKI_OK;
    if (u16(header + 8) != FORMAT_VERSION)
        return fail_with(SHASHKI_E_VERSION, "%s has version %u of the format; this library reads %d", name,
                         u16(header + 8), FORMAT_VERSION);
    if (u32(header + 124) != crc32_of(header, 124))
        return SHASHKI_OK;
    *official = is_text(header + 24, 32, "official");
    if ((!*official && !is_text(header + 24, 32, "king-moves-only")) || u32(header + 56) != KING_MOVES_PLIES)
        return fail_with(SHASHKI_E_VERSION, "%s was made under draw rules that this library does not know", name);
    *known = true;
    return SHASHKI_OK;
}

static int other_rules(const char *name)
{
    return fail_with(SHASHKI_E_VERSION, "%s was made under other draw rules than the rest", name);
}

static uint64_t packed_size(uint64_t values, uint32_t per_byte, uint32_t value_bytes)
{
    return (values + per_byte - 1) / per_byte * value_bytes;
}

static uint64_t decoded_size(const struct table *table, uint32_t frame)
{
    uint64_t left = table->shape.positions - frame * table->frame_values;
    return packed_size(left < table->frame_values ? left : table->frame_values, table->per_byte, table->value_bytes);
}

static int damaged(const struct table *table, const char *what)
{
    return fail_with(SHASHKI_E_HEADER, "%s is damaged: %s", table->name, what);
}

/* Work out the rest of a shape from its counts. Materials with as many men share the numbers of their blocks. */
static int fill_shape(shashki_tables *set, struct shape *shape)
{
    unsigned own = shape->own_kings + shape->own_men, other = shape->other_kings + shape->other_men;
    shape->own_outer = own < other || (own == other && shape->own_kings < shape->other_kings);
    unsigned outer = shape->own_outer ? shape->own_men : shape->other_men;
    unsigned inner = shape->own_outer ? shape->other_men : shape->own_men;
    unsigned free_squares = SQUARES - outer - inner;
    uint64_t **place = &set->firsts[shape->own_outer][outer][inner], *firsts = LOAD(place);
    if (!firsts) {
        uint64_t *made = new_firsts(set->choose, shape->own_outer, outer, inner);
        if (!made)
            return fail(SHASHKI_E_MEMORY);
        if (REPLACE(place, &firsts, made))
            firsts = made;
        else
            free(made);
    }
    shape->firsts = firsts;
    shape->owns = set->choose[shape->own_kings][free_squares - shape->other_kings];
    shape->block_size = set->choose[shape->other_kings][free_squares] * shape->owns;
    shape->positions = firsts[set->choose[outer][MEN_SQUARES]] * shape->block_size;
    return SHASHKI_OK;
}

/* The files and directories that all sets together keep open: the process has one limit for them. */
static long files_open;

static void close_file(struct table *table)
{
    if (table->file < 0)
        return;
    close(table->file);
    table->file = -1;
    ADD(&files_open, -1);
}

static void free_table(struct table *table)
{
    close_file(table);
    free(table->places);
    free(table->ends);
    free(table->alphabet);
    free(table);
}

/* How values become bytes: as many in a byte as fit. */
static void fill_packing(struct table *table)
{
    table->per_byte = 1;
    table->value_bytes = table->symbols > 256 ? 2 : 1;
    if (table->symbols <= 256) {
        uint32_t base = table->symbols < 2 ? 2 : table->symbols, power = base;
        while (table->per_byte < 8 && power * base <= 256)
            power *= base, table->per_byte++;
    }
    for (uint32_t r = 0, power = 1; r < table->per_byte; r++, power *= table->symbols)
        table->powers[r] = 65536 / (power ? power : 1) + (65536 % (power ? power : 1) != 0);
    table->frame_values = (uint64_t)table->frame_size / table->value_bytes * table->per_byte;
}

/* Check a header and take from it what is needed; `body` is the length of alphabet and frame index. */
static int read_header(struct table *table, const unsigned char *header, int metric, bool official, size_t *body)
{
    const struct shape *shape = &table->shape;
    bool known, is_official;
    if (memcmp(header, MAGIC, sizeof MAGIC) != 0)
        return fail_with(SHASHKI_E_NOT_A_TABLE, "%s does not begin as a table does", table->name);
    int error = check_version(header, table->name, &known, &is_official);
    if (error)
        return error;
    if (!known)
        return damaged(table, "the checksum of its header does not match");
    if (is_official != official)
        return other_rules(table->name); /* a file that came after the set was opened */
    if (header[12] != shape->own_kings || header[13] != shape->own_men || header[14] != shape->other_kings ||
        header[15] != shape->other_men || !is_text(header + 16, 8, METRIC_NAMES[metric]))
        return damaged(table, "it is another table, by what its header says");
    for (int i = 0; i < 28; i++)
        if (header[92 + i] > 127)
            return damaged(table, "the version of its generator is no text");
    table->frame_size = u32(header + 60);
    table->frames = u32(header + 80);
    table->symbols = u32(header + 84);
    if (table->frame_size < 2 || table->frame_size > MAX_FRAME_SIZE || table->frame_size % 2)
        return damaged(table, "its frame size is not an even number up to 65536");
    if (table->symbols > 65536)
        return damaged(table, "its alphabet has more values than there are");
    fill_packing(table);
    uint64_t frames = table->symbols <= 1 ? 0 : (shape->positions + table->frame_values - 1) / table->frame_values;
    if (u16(header + 10) != HEADER_SIZE || u64(header + 64) != shape->positions ||
        u64(header + 72) != shape->block_size || header[88] != table->per_byte ||
        header[89] != table->value_bytes || table->frames != frames)
        return damaged(table, "its header has other numbers than its material");
    *body = (2 * (size_t)table->symbols + 7) / 8 * 8 + 8 * (size_t)table->frames;
    table->first = HEADER_SIZE + *body;
    return SHASHKI_OK;
}

/* Check alphabet and frame index, and take them. */
static int read_body(struct table *table, const unsigned char *body, int metric, uint64_t size)
{
    const unsigned char *index = body + (2 * (size_t)table->symbols + 7) / 8 * 8;
    table->alphabet = malloc((table->symbols + 1) * sizeof *table->alphabet);
    table->ends = malloc((table->frames + (size_t)1) * sizeof *table->ends);
    table->places = calloc(table->frames + (size_t)1, sizeof *table->places);
    if (!table->alphabet || !table->ends || !table->places)
        return fail(SHASHKI_E_MEMORY);
    table->alphabet[table->symbols] = 0;
    for (uint32_t i = 0; i < table->symbols; i++) {
        table->alphabet[i] = (int16_t)u16(body + 2 * (size_t)i);
        if (i && table->alphabet[i] <= table->alphabet[i - 1])
            return damaged(table, "the values of its alphabet do not rise");
        if (metric == WDL && (table->alphabet[i] < SHASHKI_LOSS || table->alphabet[i] > SHASHKI_WIN))
            return damaged(table, "its alphabet has a value that is no outcome");
    }
    uint64_t before = table->first;
    for (uint32_t i = 0; i < table->frames; i++) {
        table->ends[i] = u64(index + 8 * (size_t)i);
        if (table->ends[i] <= before)
            return damaged(table, "the places in its frame index do not rise");
        if (table->ends[i] - before > ZSTD_compressBound(decoded_size(table, i)))
            return damaged(table, "a frame is longer than it can be");
        before = table->ends[i];
    }
    if (before != size)
        return fail_with(SHASHKI_E_TRUNCATED, "%s has %llu bytes, where its header says %llu", table->name,
                         (unsigned long long)size, (unsigned long long)before);
    return SHASHKI_OK;
}

/* Open the file of a table, which has to be the one that was there before, if any. */
static int open_file(const shashki_tables *set, const struct table *table, int *file, uint64_t *size, bool again,
                     struct stat *found)
{
    /* A pipe that came in its place must not hang. */
    *file = openat(dirfd(set->directory), table->name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (*file < 0)
        return errno == ENOENT ? fail_with(SHASHKI_E_NO_TABLE, "%s is gone since the set was opened", table->name)
                               : fail_with(SHASHKI_E_READ, "%s: %s", table->name, strerror(errno));
    if (fstat(*file, found) != 0 || !S_ISREG(found->st_mode) ||
        (again && (found->st_dev != table->device || found->st_ino != table->inode))) {
        close(*file);
        *file = -1;
        return fail_with(again ? SHASHKI_E_READ : SHASHKI_E_NOT_A_TABLE,
                         again ? "%s is another file than it was" : "%s is no ordinary file", table->name);
    }
    *size = (uint64_t)found->st_size;
    return SHASHKI_OK;
}

static int read_table(struct table *table, int metric, bool official, uint64_t size)
{
    unsigned char header[HEADER_SIZE];
    size_t got, length = 0;
    if (read_at(table->file, header, sizeof header, 0, &got))
        return fail_with(SHASHKI_E_READ, "%s: %s", table->name, strerror(errno));
    if (got < sizeof header)
        return fail_with(SHASHKI_E_TRUNCATED, "%s ends within its header", table->name);
    int error = read_header(table, header, metric, official, &length);
    if (error)
        return error;
    if (size < table->first)
        return fail_with(SHASHKI_E_TRUNCATED, "%s ends within its frame index", table->name);
    unsigned char *body = malloc(length + 1);
    if (!body)
        return fail(SHASHKI_E_MEMORY);
    if (read_at(table->file, body, length, HEADER_SIZE, &got))
        error = fail_with(SHASHKI_E_READ, "%s: %s", table->name, strerror(errno));
    else if (got < length)
        error = fail_with(SHASHKI_E_TRUNCATED, "%s ends within its frame index", table->name);
    else if (u32(header + 120) != crc32_of(body, length))
        error = damaged(table, "the checksum of its alphabet and frame index does not match");
    else
        error = read_body(table, body, metric, size);
    free(body);
    return error;
}

/* Open the table of a slice, and publish it. */
static int open_table(shashki_tables *set, struct slice *slice, const struct shape *counts, int metric,
                      struct table **opened)
{
    struct table *table = calloc(1, sizeof *table), *other = NULL;
    struct stat found;
    uint64_t size = 0;
    bool many = false;
    if (!table)
        return fail(SHASHKI_E_MEMORY);
    table->file = -1;
    table->shape = *counts;
    write_name(table->name, counts, metric);
    int error = fill_shape(set, &table->shape);
    if (!error)
        error = open_file(set, table, &table->file, &size, false, &found);
    if (!error) {
        many = ADD(&files_open, 1) >= set->most_files;
        error = read_table(table, metric, set->official, size);
    }
    if (error) {
        free_table(table);
        return error;
    }
    table->device = found.st_dev;
    table->inode = found.st_ino;
    table->number = (uint32_t)(slice - set->slices) * METRICS + (uint32_t)metric;
    if (many || !table->frames)
        close_file(table);
    if (REPLACE(&slice->tables[metric], &other, table)) {
        *opened = table;
    } else {
        free_table(table);
        *opened = other;
    }
    return SHASHKI_OK;
}

/* ---------------------------------------------------------------------------------------------------- frames */

static void free_workspace(struct workspace *space)
{
    ZSTD_freeDCtx(space->context);
    free(space->compressed);
    free(space->decoded);
    free(space);
}

/* Room to decode in: one that nobody uses now, or a new one. Each is exchanged whole, so that none has two users. */
static struct workspace *take_workspace(shashki_tables *set)
{
    for (int i = 0; i < WORKSPACES; i++) {
        struct workspace *space = NULL;
        if (LOAD_RELAXED(&set->workspaces[i]))
            space = __atomic_exchange_n(&set->workspaces[i], NULL, __ATOMIC_ACQ_REL);
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

static void give_workspace(shashki_tables *set, struct workspace *space)
{
    for (int i = 0; i < WORKSPACES; i++) {
        struct workspace *none = NULL;
        if (REPLACE(&set->workspaces[i], &none, space))
            return;
    }
    free_workspace(space);
}

static int frame_error(const struct table *table, uint32_t frame, const char *what)
{
    return fail_with(SHASHKI_E_FRAME, "%s is damaged: frame %lu of %lu: %s", table->name, (unsigned long)frame,
                     (unsigned long)table->frames, what);
}

/* Read a frame and decode it into a workspace: whole and as it was written, or it is an error. */
static int decode_frame(shashki_tables *set, const struct table *table, uint32_t frame, struct workspace *space)
{
    uint64_t start = frame ? table->ends[frame - 1] : table->first, size;
    size_t length = (size_t)(table->ends[frame] - start), expected = (size_t)decoded_size(table, frame), got;
    struct stat found;
    int file = table->file;
    if (file < 0) {
        int error = open_file(set, table, &file, &size, true, &found);
        if (error)
            return error;
    }
    int error = read_at(file, space->compressed, length, start, &got);
    if (error)
        error = fail_with(SHASHKI_E_READ, "%s: %s", table->name, strerror(errno));
    if (table->file < 0)
        close(file);
    if (error)
        return error;
    if (got < length)
        return fail_with(SHASHKI_E_TRUNCATED, "%s ends within frame %lu", table->name, (unsigned long)frame);
    ADD(&set->frames_read, 1);
    ADD(&set->bytes_read, length);
    /* Looked at first: nothing is decoded that says to have another size, or that has something behind it. */
    if (ZSTD_getFrameContentSize(space->compressed, length) != expected)
        return frame_error(table, frame, "it says to have another size");
    if (ZSTD_findFrameCompressedSize(space->compressed, length) != length)
        return frame_error(table, frame, "it is not one frame");
    size_t size_now = ZSTD_decompressDCtx(space->context, space->decoded, expected, space->compressed, length);
    if (ZSTD_isError(size_now))
        return frame_error(table, frame, ZSTD_getErrorName(size_now));
    if (size_now != expected)
        return frame_error(table, frame, "it decodes to another size");
    return SHASHKI_OK;
}

/* Put a decoded frame into the cache, where there is room: whether there was. `loading` may be NULL. */
static bool keep_frame(shashki_tables *set, struct table *table, uint32_t frame, const struct workspace *space,
                       struct loading *loading)
{
    struct cache *cache = &set->cache;
    size_t bytes = (size_t)decoded_size(table, frame);
    if (bytes > cache->slot_words * sizeof(word))
        return false;
    uint32_t place = loading ? cache_claim_next(cache, loading) : cache_claim(cache);
    if (!place)
        return false;
    cache_fill(cache, place, table->number, frame, space->decoded, bytes);
    STORE(&table->places[frame], place);
    return true;
}

/* The byte or two of a decoded frame that have the value at place p of it, as a symbol. */
static inline uint32_t symbol_in(const struct table *table, word unit, size_t at, uint32_t digit)
{
    uint32_t byte = byte_of(unit, at % sizeof unit);
    if (table->value_bytes == 2)
        return byte | byte_of(unit, at % sizeof unit + 1) << 8;
    if (table->per_byte == 1)
        return byte;
    uint32_t left = byte * table->powers[digit] >> 16;
    return left - (left * table->powers[1] >> 16) * table->symbols;
}

/* What a table stores at an index. */
static int stored_value(struct probe *probe, struct table *table, uint64_t index, int *value)
{
    shashki_tables *set = probe->set;
    if (!table->frames) {
        *value = table->alphabet[0];
        return SHASHKI_OK;
    }
    uint32_t frame = (uint32_t)(index / table->frame_values);
    uint32_t inside = (uint32_t)(index - frame * table->frame_values), digit = 0;
    size_t at = inside;
    if (table->value_bytes == 2) {
        at = 2 * (size_t)inside;
    } else if (table->per_byte > 1) {
        at = inside / table->per_byte;
        digit = inside - (uint32_t)at * table->per_byte;
    }
    word unit = 0;
    if (!cache_read(&set->cache, LOAD(&table->places[frame]), table->number, frame, at, &unit)) {
        if (probe->cached_only)
            return fail(SHASHKI_E_NOT_CACHED);
        struct workspace *space = take_workspace(set);
        if (!space)
            return fail(SHASHKI_E_MEMORY);
        int error = decode_frame(set, table, frame, space);
        if (!error) {
            keep_frame(set, table, frame, space, NULL);
            unit = space->decoded[at / sizeof unit];
        }
        give_workspace(set, space);
        if (error)
            return error;
    }
    uint32_t symbol = symbol_in(table, unit, at, digit);
    if (symbol >= table->symbols)
        return frame_error(table, frame, "it has a symbol that is not in the alphabet");
    *value = table->alphabet[symbol];
    return SHASHKI_OK;
}

/* ---------------------------------------------------------------------------------------------------- opening */

static struct slice *slice_of(const shashki_tables *set, const struct shape *counts)
{
    return &set->slices[slice_number(counts->own_kings, counts->own_men, counts->other_kings, counts->other_men)];
}

/* What the headers of all files come to. */
struct survey {
    bool any; /* whether one of them told its ruleset */
    size_t frame_bytes;
    uint64_t frames;
};

/* Look at one file of the directory, if its name is one of a table. */
static int add_file(shashki_tables *set, const char *name, struct survey *survey)
{
    struct shape counts;
    struct stat found;
    struct table table;
    unsigned char header[HEADER_SIZE];
    uint64_t size;
    size_t got;
    int metric;
    bool known = false, official = false;
    if (!read_name(name, &counts, &metric))
        return SHASHKI_OK;
    memset(&table, 0, sizeof table);
    write_name(table.name, &counts, metric);
    int error = open_file(set, &table, &table.file, &size, false, &found);
    if (error)
        return error == SHASHKI_E_NO_TABLE
                   ? fail_with(SHASHKI_E_NOT_A_TABLE, "%s is a link that leads nowhere", table.name)
                   : error;
    error = read_at(table.file, header, sizeof header, 0, &got);
    close(table.file);
    if (error)
        return fail_with(SHASHKI_E_READ, "%s: %s", table.name, strerror(errno));
    if (got == sizeof header)
        error = check_version(header, table.name, &known, &official);
    if (error)
        return error;
    if (known && survey->any && official != set->official)
        return other_rules(table.name);
    if (known) {
        survey->any = true;
        set->official = official;
        uint64_t all = header[88] ? packed_size(u64(header + 64), header[88], header[89]) : 0;
        uint64_t frame = u32(header + 60) <= MAX_FRAME_SIZE ? u32(header + 60) : MAX_FRAME_SIZE;
        if (all < frame)
            frame = all;
        if (u32(header + 80) && frame > survey->frame_bytes)
            survey->frame_bytes = (size_t)frame;
        survey->frames += u32(header + 80);
    }
    slice_of(set, &counts)->known |= 1u << metric;
    return SHASHKI_OK;
}

/* Go to the next material of so many pieces; to the first from one of another number. False behind the last. */
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

/* The greatest number of pieces up to which all outcomes are there. */
static int complete_to(const shashki_tables *set)
{
    for (unsigned pieces = 2; pieces <= MOST_PIECES; pieces++)
        for (struct shape counts = {0}; next_material(&counts, pieces);)
            if (!(slice_of(set, &counts)->known & 1u << WDL))
                return pieces > 2 ? (int)pieces - 1 : 0;
    return MOST_PIECES;
}

static int add_files(shashki_tables *set, const char *directory, size_t cache_bytes)
{
    struct survey survey = {0};
    int error = SHASHKI_OK;
    set->directory = opendir(directory);
    if (!set->directory)
        return fail_with(SHASHKI_E_DIRECTORY, "%s: %s", directory, strerror(errno));
    ADD(&files_open, 1);
    set->official = true; /* as long as nothing says otherwise */
    while (!error) {
        errno = 0;
        const struct dirent *entry = readdir(set->directory);
        if (!entry) {
            if (errno)
                error = fail_with(SHASHKI_E_DIRECTORY, "%s: %s", directory, strerror(errno));
            break;
        }
        error = add_file(set, entry->d_name, &survey);
    }
    if (error)
        return error;
    set->pieces = complete_to(set);
    return cache_init(&set->cache, cache_bytes, survey.frame_bytes, survey.frames);
}

int shashki_open(const char *directory, size_t cache_bytes, shashki_tables **tables)
{
    if (!directory || !tables)
        return fail_with(SHASHKI_E_ARGUMENT, "a directory and a place for the set are wanted, not NULL");
    *tables = NULL;
    shashki_tables *set = calloc(1, sizeof *set);
    if (!set)
        return fail(SHASHKI_E_MEMORY);
    set->slices = calloc(SLICES, sizeof *set->slices);
    if (!set->slices) {
        shashki_close(set);
        return fail(SHASHKI_E_MEMORY);
    }
    fill_binomials(set->choose);
    long limit = sysconf(_SC_OPEN_MAX);
    set->most_files = limit < 0 ? 1024 : limit / 2; /* the rest is left to the program */
    int error = add_files(set, directory, cache_bytes);
    if (error)
        shashki_close(set);
    else
        *tables = set;
    return error;
}

void shashki_close(shashki_tables *set)
{
    if (!set)
        return;
    for (size_t i = 0; set->slices && i < SLICES; i++)
        for (int metric = 0; set->slices[i].known && metric < METRICS; metric++)
            if (set->slices[i].tables[metric])
                free_table(set->slices[i].tables[metric]);
    for (int i = 0; i < WORKSPACES; i++)
        if (set->workspaces[i])
            free_workspace(set->workspaces[i]);
    uint64_t **firsts = &set->firsts[0][0][0];
    for (size_t i = 0; i < sizeof set->firsts / sizeof *firsts; i++)
        free(firsts[i]);
    cache_free(&set->cache);
    free(set->slices);
    if (set->directory) {
        closedir(set->directory);
        ADD(&files_open, -1);
    }
    free(set);
}

int shashki_pieces(const shashki_tables *set) { return set ? set->pieces : 0; }

const char *shashki_ruleset(const shashki_tables *set)
{
    return !set ? "" : set->official ? "official" : "king-moves-only";
}

int shashki_has_table(const shashki_tables *set, const char *name)
{
    struct shape counts;
    int metric;
    return set && name && read_name(name, &counts, &metric) && slice_of(set, &counts)->known >> metric & 1;
}

void shashki_count(const shashki_tables *set, shashki_counts *counts)
{
    if (!counts)
        return;
    counts->frames = set ? LOAD_RELAXED(&set->frames_read) : 0;
    counts->bytes = set ? LOAD_RELAXED(&set->bytes_read) : 0;
}

/* ---------------------------------------------------------------------------------------------------- values */

static const shashki_value LOST = {SHASHKI_LOSS, 0, 0, 0};
static const shashki_value ONE_MOVE_WIN = {SHASHKI_WIN, 1, 1, 1}; /* the opponent has no pieces: any move wins */

static unsigned all_pieces(const struct shape *counts)
{
    return counts->own_kings + counts->own_men + counts->other_kings + counts->other_men;
}

static void counts_of(const struct board *board, struct shape *counts)
{
    counts->own_kings = count_of(board->own_kings);
    counts->own_men = count_of(board->own_men);
    counts->other_kings = count_of(board->other_kings);
    counts->other_men = count_of(board->other_men);
}

/* The plies that the rule on the balance of forces allows with so many pieces; 0 where it sets no limit. */
static int balance_plies(const shashki_tables *set, unsigned pieces)
{
    return !set->official || pieces > 7 ? 0 : pieces <= 3 ? 10 : pieces <= 5 ? 60 : 120;
}

/* Whether that rule counts in a position: both sides have a king. */
static bool counts_balance(const shashki_tables *set, const struct board *board)
{
    return board->own_kings && board->other_kings && balance_plies(set, pieces_of(board)) > 0;
}

/* Whether it counts apart from king moves: there are men, whose steps give back the one count and not the other. */
static bool counts_apart(const shashki_tables *set, const struct board *board)
{
    return (board->own_men | board->other_men) && counts_balance(set, board);
}

static int no_table(const struct shape *counts, int metric)
{
    static const char TEXT[] = "there is no table ";
    if (all_pieces(counts) > MOST_PIECES)
        return fail_with(SHASHKI_E_NO_TABLE, "there are no tables of so many pieces");
    last_error = SHASHKI_E_NO_TABLE;
    memcpy(last_text, TEXT, sizeof TEXT);
    write_name(last_text + sizeof TEXT - 1, counts, metric);
    return SHASHKI_E_NO_TABLE;
}

static inline int table_of(struct probe *probe, struct slice *slice, const struct shape *counts, int metric,
                           struct table **table)
{
    *table = LOAD(&slice->tables[metric]);
    if (LIKELY(*table != NULL))
        return SHASHKI_OK;
    if (!(slice->known & 1u << metric))
        return no_table(counts, metric);
    if (probe->cached_only)
        return fail(SHASHKI_E_NOT_CACHED);
    return open_table(probe->set, slice, counts, metric, table);
}

static int stored_distance(struct probe *probe, struct slice *slice, const struct shape *counts, int metric,
                           uint64_t index, int32_t *plies)
{
    struct table *table;
    int value;
    *plies = SHASHKI_UNKNOWN;
    if (probe->lenient && !(slice->known & 1u << metric))
        return SHASHKI_OK;
    int error = table_of(probe, slice, counts, metric, &table);
    if (!error)
        error = stored_value(probe, table, index, &value);
    if (error)
        return error;
    if (value < 0)
        return damaged(table, "it has a distance below 0");
    *plies = value;
    return SHASHKI_OK;
}

/* Bring the frames of a table into the cache, as long as there is room for so many more. */
static int preload_table(shashki_tables *set, struct table *table, struct loading *loading)
{
    struct workspace *space = take_workspace(set);
    if (!space)
        return fail(SHASHKI_E_MEMORY);
    int error = SHASHKI_OK;
    for (uint32_t frame = 0; frame < table->frames && !error; frame++) {
        word unit;
        if (!loading->room) {
            loading->left_out++;
            continue;
        }
        loading->room--;
        uint32_t place = LOAD(&table->places[frame]);
        if (cache_read(&set->cache, place, table->number, frame, 0, &unit)) {
            loading->keep[place - 1] = 1;
            continue;
        }
        if (!loading->reading)
            continue;
        error = decode_frame(set, table, frame, space);
        if (!error && !keep_frame(set, table, frame, space, loading))
            loading->left_out++;
    }
    give_workspace(set, space);
    return error;
}

/* Go through tables, outcomes first, and fewer pieces first. */
static int preload_tables(shashki_tables *set, int pieces, unsigned metrics, struct loading *loading)
{
    int error = SHASHKI_OK;
    struct probe probe;
    begin(&probe, set);
    loading->room = set->cache.slots;
    loading->left_out = 0;
    for (int metric = WDL; metric < METRICS; metric++)
        for (unsigned now = 2; now <= MOST_PIECES && (int)now <= pieces && metrics >> metric & 1; now++)
            for (struct shape counts = {0}; !error && next_material(&counts, now);) {
                struct slice *slice = slice_of(set, &counts);
                struct table *table;
                if (!(slice->known >> metric & 1))
                    continue;
                error = table_of(&probe, slice, &counts, metric, &table);
                if (!error)
                    error = preload_table(set, table, loading);
            }
    end(&probe);
    return error;
}

static int check_wanted(unsigned wanted)
{
    return wanted & ~(unsigned)ALL_WANTED
               ? fail_with(SHASHKI_E_ARGUMENT, "%u names a distance that there is none of", wanted)
               : SHASHKI_OK;
}

int shashki_preload(shashki_tables *set, int pieces, unsigned wanted, size_t *left_out)
{
    if (!set)
        return fail_with(SHASHKI_E_ARGUMENT, "a set is wanted, not NULL");
    int error = check_wanted(wanted);
    if (error)
        return error;
    struct loading loading = {.keep = calloc(set->cache.slots + 1, 1)};
    if (!loading.keep)
        return fail(SHASHKI_E_MEMORY);
    unsigned metrics = 1u << WDL | wanted << DTC;
    preload_tables(set, pieces, metrics, &loading); /* an error comes again, behind what could be loaded */
    loading.reading = true;
    error = preload_tables(set, pieces, metrics, &loading);
    if (loading.next)
        STORE_RELAXED(&set->cache.hand, loading.next); /* the clock goes on behind what was loaded */
    free(loading.keep);
    if (left_out && !error)
        *left_out = loading.left_out;
    return error;
}

/* The value of a position without a capture, from the tables of its slice. */
static int look_up(struct probe *probe, const struct board *board, unsigned wanted, shashki_value *value)
{
    struct shape counts;
    struct table *table;
    counts_of(board, &counts);
    if (all_pieces(&counts) > MOST_PIECES)
        return no_table(&counts, WDL);
    struct slice *slice = slice_of(probe->set, &counts);
    int error = table_of(probe, slice, &counts, WDL, &table);
    if (error)
        return error;
    uint64_t index = index_of(probe->set->choose, &table->shape, board);
    int wdl;
    error = stored_value(probe, table, index, &wdl);
    if (error)
        return error;
    *value = (shashki_value){wdl, SHASHKI_NONE, SHASHKI_NONE, SHASHKI_NONE};
    if (!wanted || !wdl)
        return SHASHKI_OK;
    bool decided = wdl == SHASHKI_WIN || wdl == SHASHKI_LOSS;
    if (decided && wanted & SHASHKI_DTC)
        error = stored_distance(probe, slice, &counts, DTC, index, &value->dtc);
    if (!error && wanted & SHASHKI_DTW) {
        error = stored_distance(probe, slice, &counts, DTW, index, &value->dtw);
        if (value->dtw >= 0) /* half of it is stored: a win takes an odd number of plies, a loss an even one */
            value->dtw = 2 * value->dtw + (wdl > 0);
    }
    if (!error && decided && wanted & SHASHKI_DTB && counts_balance(probe->set, board))
        error = stored_distance(probe, slice, &counts, counts_apart(probe->set, board) ? DTB : DTC, index,
                                &value->dtb);
    return error;
}

static int evaluate(struct probe *probe, const struct board *board, unsigned wanted, shashki_value *value);

/* The value of a position with a capture, from those of what its captures lead to. */
static int evaluate_captures(struct probe *probe, const struct board *board, uint32_t empty, unsigned wanted,
                             shashki_value *value)
{
    size_t first = probe->boards_count;
    int error = add_captures(probe, board, empty);
    size_t last = probe->boards_count;
    int best = SHASHKI_LOSS - 1, shortest = 0, longest = 0;
    bool short_unknown = false, long_unknown = false;
    unsigned further = wanted & SHASHKI_DTW;
    for (size_t i = first; i < last && !error; i++) {
        struct board after = probe->boards[i]; /* a copy: the stack may move */
        shashki_value found;
        error = evaluate(probe, &after, further, &found);
        if (error)
            break;
        if (-found.wdl > best)
            best = -found.wdl;
        /* On the board a cursed win is a win like any other, so the shortest may be one. */
        if (further && found.wdl < 0) {
            short_unknown |= found.dtw < 0;
            if (!shortest || found.dtw + 1 < shortest)
                shortest = found.dtw + 1;
        } else if (further && found.wdl > 0) {
            long_unknown |= found.dtw < 0;
            if (found.dtw + 1 > longest)
                longest = found.dtw + 1;
        } else if (!further && best == SHASHKI_WIN && probe->complete) {
            break;
        }
    }
    probe->boards_count = first;
    if (error)
        return error;
    *value = (shashki_value){best, SHASHKI_NONE, SHASHKI_NONE, SHASHKI_NONE};
    if (best == SHASHKI_WIN || best == SHASHKI_LOSS) {
        value->dtc = 1; /* a capture gives every count back */
        if (counts_balance(probe->set, board))
            value->dtb = 1;
    }
    if (further && best > 0)
        value->dtw = short_unknown ? SHASHKI_UNKNOWN : shortest;
    if (further && best < 0)
        value->dtw = long_unknown ? SHASHKI_UNKNOWN : longest;
    return SHASHKI_OK;
}

/* The value of any position. It calls itself by way of captures alone, so it is as deep as there are pieces. */
static int evaluate(struct probe *probe, const struct board *board, unsigned wanted, shashki_value *value)
{
    int error = add_step(probe);
    if (error)
        return error;
    uint32_t empty = empty_squares(board), others = board->other_men | board->other_kings;
    if (can_capture(board->own_men, board->own_kings, others, empty))
        return evaluate_captures(probe, board, empty, wanted, value);
    if (!has_quiet_move(board, empty)) {
        *value = LOST;
        return SHASHKI_OK;
    }
    if (!others) {
        *value = ONE_MOVE_WIN;
        return SHASHKI_OK;
    }
    return look_up(probe, board, wanted, value);
}

/* One question about one position. */
static int ask(struct probe *probe, const shashki_position *position, unsigned wanted, shashki_value *value)
{
    struct board board;
    int error = read_position(position, &board);
    if (error)
        return error;
    probe->steps = 0;
    probe->complete = (int)pieces_of(&board) - 1 <= probe->set->pieces;
    return evaluate(probe, &board, wanted, value);
}

static int check_arguments(const shashki_tables *set, const void *position, const void *answer)
{
    if (set && position && answer)
        return SHASHKI_OK;
    return fail_with(SHASHKI_E_ARGUMENT, "a set, a position and a place for the answer are wanted, not NULL");
}

static int probe_one(shashki_tables *set, const shashki_position *position, unsigned wanted, bool cached_only,
                     bool lenient, shashki_value *value)
{
    struct probe probe;
    begin(&probe, set);
    probe.cached_only = cached_only;
    probe.lenient = lenient;
    int error = ask(&probe, position, wanted, value);
    end(&probe);
    return error;
}

static int probe_outcome(shashki_tables *set, const shashki_position *position, bool cached_only, int *wdl)
{
    shashki_value value;
    int error = check_arguments(set, position, wdl);
    if (!error)
        error = probe_one(set, position, 0, cached_only, false, &value);
    if (!error)
        *wdl = value.wdl;
    return error;
}

int shashki_probe_wdl(shashki_tables *set, const shashki_position *position, int *wdl)
{
    return probe_outcome(set, position, false, wdl);
}

int shashki_probe_wdl_cached(shashki_tables *set, const shashki_position *position, int *wdl)
{
    return probe_outcome(set, position, true, wdl);
}

static int probe_distance(shashki_tables *set, const shashki_position *position, unsigned wanted, int *plies)
{
    shashki_value value;
    int error = check_arguments(set, position, plies);
    if (!error)
        error = probe_one(set, position, wanted, false, false, &value);
    if (!error)
        *plies = wanted == SHASHKI_DTC ? value.dtc : wanted == SHASHKI_DTW ? value.dtw : value.dtb;
    return error;
}

int shashki_probe_dtc(shashki_tables *set, const shashki_position *position, int *plies)
{
    return probe_distance(set, position, SHASHKI_DTC, plies);
}

int shashki_probe_dtw(shashki_tables *set, const shashki_position *position, int *plies)
{
    return probe_distance(set, position, SHASHKI_DTW, plies);
}

int shashki_probe_dtb(shashki_tables *set, const shashki_position *position, int *plies)
{
    return probe_distance(set, position, SHASHKI_DTB, plies);
}

static int check_manner(unsigned wanted, int how)
{
    int error = check_wanted(wanted);
    if (error)
        return error;
    if (how != SHASHKI_READ && how != SHASHKI_CACHED)
        return fail_with(SHASHKI_E_ARGUMENT, "%d is no way to read tables", how);
    return SHASHKI_OK;
}

/* What was not asked for is unknown, however it came to be known. */
static void leave_wanted(unsigned wanted, shashki_value *value)
{
    if (!(wanted & SHASHKI_DTC))
        value->dtc = SHASHKI_UNKNOWN;
    if (!(wanted & SHASHKI_DTW))
        value->dtw = SHASHKI_UNKNOWN;
    if (!(wanted & SHASHKI_DTB))
        value->dtb = SHASHKI_UNKNOWN;
}

int shashki_probe(shashki_tables *set, const shashki_position *position, unsigned wanted, int how,
                  shashki_value *value)
{
    shashki_value found;
    int error = check_arguments(set, position, value);
    if (!error)
        error = check_manner(wanted, how);
    if (!error)
        error = probe_one(set, position, wanted, how == SHASHKI_CACHED, true, &found);
    if (error)
        return error;
    leave_wanted(wanted, &found);
    *value = found;
    return SHASHKI_OK;
}

int shashki_probe_many(shashki_tables *set, const shashki_position *positions, size_t count, unsigned wanted,
                       int how, shashki_value *values)
{
    static const shashki_value UNKNOWN = {SHASHKI_UNKNOWN, SHASHKI_UNKNOWN, SHASHKI_UNKNOWN, SHASHKI_UNKNOWN};
    struct probe probe;
    int error = count ? check_arguments(set, positions, values) : check_arguments(set, set, set);
    if (!error)
        error = check_manner(wanted, how);
    if (error)
        return error;
    begin(&probe, set);
    probe.cached_only = how == SHASHKI_CACHED;
    probe.lenient = true;
    for (size_t i = 0; i < count && !error; i++) {
        error = ask(&probe, &positions[i], wanted, &values[i]);
        if (error == SHASHKI_E_NO_TABLE || error == SHASHKI_E_NOT_CACHED || error == SHASHKI_E_TOO_COMPLEX) {
            values[i] = UNKNOWN;
            error = SHASHKI_OK;
        }
        leave_wanted(wanted, &values[i]);
    }
    end(&probe);
    return error;
}

/* ---------------------------------------------------------------------------------------------------- moves */

static unsigned square_of(const struct probe *probe, unsigned square)
{
    return probe->black ? SQUARES - 1 - square : square;
}

static int add_move(struct probe *probe, const struct board *after, const uint8_t *path, unsigned squares,
                    uint32_t captured, bool king, bool promotes)
{
    if (probe->moves_count == probe->moves_room) {
        shashki_move *more = realloc(probe->moves, 2 * probe->moves_room * sizeof *more);
        if (!more)
            return fail(SHASHKI_E_MEMORY);
        probe->moves = more;
        probe->moves_room *= 2;
    }
    shashki_move *move = &probe->moves[probe->moves_count++];
    memset(move, 0, sizeof *move);
    /* The board after it is turned for the opponent: who sees it as it is, is White. */
    if (probe->black)
        move->after = (shashki_position){after->own_men, after->own_kings, after->other_men, after->other_kings,
                                         SHASHKI_WHITE};
    else
        move->after = (shashki_position){turned(after->other_men), turned(after->other_kings),
                                         turned(after->own_men), turned(after->own_kings), SHASHKI_BLACK};
    for (unsigned i = 0; i < squares; i++)
        move->path[i] = (uint8_t)square_of(probe, path[i]);
    move->squares = (uint8_t)squares;
    move->captured = probe->black ? turned(captured) : captured;
    move->king = king;
    move->promotes = promotes;
    return SHASHKI_OK;
}

static int add_quiet_moves(struct probe *probe, const struct board *board, uint32_t empty)
{
    uint32_t pieces = board->own_men | board->own_kings;
    for (; pieces; pieces &= pieces - 1) {
        unsigned start = lowest(pieces);
        uint32_t bit = 1u << start;
        bool king = (board->own_kings & bit) != 0;
        for (int direction = 0; direction < (king ? DIRECTIONS : DOWN_LEFT); direction++) {
            uint32_t end = bit;
            while ((end = step(end, direction) & empty) != 0) {
                bool promotes = !king && (end & LAST_ROW);
                uint32_t men = board->own_men & ~bit, kings = board->own_kings & ~bit;
                if (king || promotes)
                    kings |= end;
                else
                    men |= end;
                struct board after = {turned(board->other_men), turned(board->other_kings), turned(men),
                                      turned(kings)};
                const uint8_t path[2] = {(uint8_t)start, (uint8_t)lowest(end)};
                int error = add_move(probe, &after, path, 2, 0, king, promotes);
                if (error)
                    return error;
                if (!king)
                    break;
            }
        }
    }
    return SHASHKI_OK;
}

/* Write a move: start and end, or every square where another move has the same two. */
static void write_move(shashki_move *move, bool ambiguous)
{
    char *at = move->notation;
    for (unsigned i = 0; i < move->squares; i++) {
        if (i && i + 1 < move->squares && !ambiguous)
            continue;
        unsigned row = move->path[i] / 4u, column = 2 * (move->path[i] % 4u) + row % 2;
        if (i)
            *at++ = move->captured ? ':' : '-';
        *at++ = (char)('a' + column);
        *at++ = (char)('1' + row);
    }
    *at = '\0';
}

/* Two captures may lead to the same position: rings of two pieces. The one found first stays, but both make the
 * squares of a move ambiguous. */
static void settle_moves(struct probe *probe)
{
    shashki_move *moves = probe->moves;
    size_t kept = 0;
    for (size_t i = 0; i < probe->moves_count; i++) {
        bool ambiguous = false;
        for (size_t j = 0; j < probe->moves_count && moves[i].captured; j++)
            ambiguous |= j != i && moves[j].path[0] == moves[i].path[0] &&
                         moves[j].path[moves[j].squares - 1] == moves[i].path[moves[i].squares - 1];
        write_move(&moves[i], ambiguous);
    }
    for (size_t i = 0; i < probe->moves_count; i++) {
        bool known = false;
        for (size_t j = 0; j < kept && moves[i].captured && !known; j++)
            known = memcmp(&moves[j].after, &moves[i].after, sizeof moves[i].after) == 0;
        if (!known)
            moves[kept++] = moves[i];
    }
    probe->moves_count = kept;
}

static int find_moves(struct probe *probe, const struct board *board)
{
    uint32_t empty = empty_squares(board);
    probe->moves_room = FEW;
    probe->moves = malloc(probe->moves_room * sizeof *probe->moves);
    if (!probe->moves)
        return fail(SHASHKI_E_MEMORY);
    probe->listing = true;
    int error = can_capture(board->own_men, board->own_kings, board->other_men | board->other_kings, empty)
                    ? add_captures(probe, board, empty)
                    : add_quiet_moves(probe, board, empty);
    probe->listing = false;
    if (!error)
        settle_moves(probe);
    return error;
}

static int32_t further(int32_t plies, bool reached)
{
    return reached ? 1 : plies < 0 ? plies : plies + 1;
}

/* What a move is worth to who makes it, from the value of the position after it. That value is one of fresh counts,
 * but the move itself has been counted: what the rules only just allow is, a ply earlier, drawn. */
static void value_move(const shashki_tables *set, const struct board *board, shashki_move *move,
                       const shashki_value *after)
{
    bool counted = counts_balance(set, board);
    bool zeroing = move->captured || !move->king, change = move->captured || move->promotes;
    shashki_value *own = &move->value;
    own->wdl = -after->wdl;
    own->dtw = further(after->dtw, false);
    own->dtc = own->dtb = SHASHKI_NONE;
    if (own->wdl != SHASHKI_WIN && own->wdl != SHASHKI_LOSS)
        return;
    int32_t dtc = further(after->dtc, zeroing), dtb = further(after->dtb, change);
    if ((!zeroing && dtc > KING_MOVES_PLIES) || (!change && counted && dtb > balance_plies(set, pieces_of(board)))) {
        own->wdl = own->wdl > 0 ? SHASHKI_CURSED_WIN : SHASHKI_BLESSED_LOSS;
        return;
    }
    own->dtc = dtc;
    own->dtb = counted ? dtb : SHASHKI_NONE;
}

/* Where no single count makes the moves that win from fresh counts draws, two together may: the position's own
 * table knows it. */
static int curse_wins(struct probe *probe, const struct board *board)
{
    bool wins = false;
    shashki_value own;
    for (size_t i = 0; i < probe->moves_count; i++)
        wins |= probe->moves[i].value.wdl == SHASHKI_WIN;
    if (!wins || !counts_apart(probe->set, board))
        return SHASHKI_OK;
    probe->steps = 0;
    int error = evaluate(probe, board, 0, &own);
    if (error == SHASHKI_E_NO_TABLE)
        return SHASHKI_OK;
    for (size_t i = 0; i < probe->moves_count && !error && own.wdl == SHASHKI_CURSED_WIN; i++) {
        shashki_value *value = &probe->moves[i].value;
        if (value->wdl == SHASHKI_WIN)
            *value = (shashki_value){SHASHKI_CURSED_WIN, SHASHKI_NONE, value->dtw, SHASHKI_NONE};
    }
    return error;
}

/* Before or after; distances that are not known come after those of their kind that are. */
static int by_distance(int32_t a, int32_t b, bool falling)
{
    if ((a < 0) != (b < 0))
        return a < 0 ? 1 : -1;
    if (a < 0 || a == b)
        return 0;
    return (a < b) != falling ? -1 : 1;
}

/* The order of moves, best first: wins by DTC, then DTW, both rising; cursed wins by DTW rising; draws; blessed
 * losses by DTW falling; losses by DTC, then DTW, both falling; unknown last; ties by notation. */
static int by_value(const void *one, const void *two)
{
    const shashki_move *a = one, *b = two;
    if (a->value.wdl != b->value.wdl)
        return a->value.wdl > b->value.wdl ? -1 : 1;
    int32_t wdl = a->value.wdl;
    int order = 0;
    if (wdl == SHASHKI_WIN || wdl == SHASHKI_LOSS)
        order = by_distance(a->value.dtc, b->value.dtc, wdl < 0);
    if (!order && wdl != SHASHKI_DRAW && wdl != SHASHKI_UNKNOWN)
        order = by_distance(a->value.dtw, b->value.dtw, wdl < 0);
    return order ? order : strcmp(a->notation, b->notation);
}

static int root_moves(struct probe *probe, const struct board *board)
{
    int error = find_moves(probe, board);
    probe->complete = (int)pieces_of(board) - 1 <= probe->set->pieces;
    for (size_t i = 0; i < probe->moves_count && !error; i++) {
        struct board after;
        shashki_move *move = &probe->moves[i];
        shashki_value value = {SHASHKI_UNKNOWN, SHASHKI_UNKNOWN, SHASHKI_UNKNOWN, SHASHKI_UNKNOWN};
        move->value = value;
        probe->steps = 0;
        error = read_position(&move->after, &after);
        if (!error)
            error = evaluate(probe, &after, ALL_WANTED, &value);
        if (!error)
            value_move(probe->set, board, move, &value);
        else if (error == SHASHKI_E_NO_TABLE)
            error = SHASHKI_OK;
    }
    return error;
}

int shashki_root(shashki_tables *set, const shashki_position *position, shashki_move *moves, size_t room,
                 size_t *count)
{
    struct probe probe;
    struct board board;
    int error = check_arguments(set, position, count);
    if (!error && !moves && room)
        error = fail_with(SHASHKI_E_ARGUMENT, "there is no place for moves, and room for some is promised");
    if (!error)
        error = read_position(position, &board);
    if (error)
        return error;
    begin(&probe, set);
    probe.lenient = true;
    probe.black = position->side == SHASHKI_BLACK;
    error = root_moves(&probe, &board);
    if (!error)
        error = curse_wins(&probe, &board);
    if (!error) {
        qsort(probe.moves, probe.moves_count, sizeof *probe.moves, by_value);
        *count = probe.moves_count;
        if (room)
            memcpy(moves, probe.moves, (room < probe.moves_count ? room : probe.moves_count) * sizeof *moves);
    }
    end(&probe);
    return error;
}
