/* Probing the endgame tables of Russian draughts from C and C++.
 *
 * docs/probe.md is the manual, docs/format.md describes the files. Everything here is plain C99; the source takes
 * a compiler with the __atomic builtins (gcc, clang), a POSIX system, and libzstd.
 *
 *     shashki_tables *tables;
 *     int wdl;
 *     if (shashki_open("data", 64 << 20, &tables) == SHASHKI_OK) {
 *         shashki_position position = {0x00000400, 0, 0, 0x80000000, SHASHKI_WHITE};
 *         if (shashki_probe_wdl(tables, &position, &wdl) != SHASHKI_OK)
 *             puts(shashki_last_error());
 *         shashki_close(tables);
 *     }
 *
 * Distances are in plies. Every value is for the side to move, from fresh counts of the draw rules. Any number of
 * threads may ask one set of tables at the same time.
 */
#ifndef SHASHKI_PROBE_H
#define SHASHKI_PROBE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SHASHKI_PROBE_VERSION "0.1.0"

/* Sides. */
enum { SHASHKI_WHITE = 0, SHASHKI_BLACK = 1 };

/* Outcomes, for the side to move. A cursed win is won on the board but drawn under the draw rules; a blessed loss
 * is its other side. */
enum {
    SHASHKI_LOSS = -2,
    SHASHKI_BLESSED_LOSS = -1,
    SHASHKI_DRAW = 0,
    SHASHKI_CURSED_WIN = 1,
    SHASHKI_WIN = 2
};

/* What stands in place of a value: there is no distance, as of a draw; or no table tells it. */
enum { SHASHKI_NONE = -1, SHASHKI_UNKNOWN = -128 };

/* Distances that are wanted besides the outcome; join them with |. */
enum {
    SHASHKI_DTC = 1, /* plies to the next capture, man's move or end of the game */
    SHASHKI_DTW = 2, /* plies to the end of the game, without draw rules */
    SHASHKI_DTB = 4  /* plies to the next capture, promotion or end of the game */
};

/* How tables may be read. */
enum {
    SHASHKI_READ = 0,  /* from memory or else from the disk */
    SHASHKI_CACHED = 1 /* from memory alone: SHASHKI_E_NOT_CACHED where that is not enough */
};

/* What a function returns. */
enum {
    SHASHKI_OK = 0,
    SHASHKI_E_ARGUMENT = -1,    /* an argument makes no sense */
    SHASHKI_E_POSITION = -2,    /* pieces that cannot stand so */
    SHASHKI_E_NO_TABLE = -3,    /* the table that it takes is not there */
    SHASHKI_E_NOT_CACHED = -4,  /* it takes a part of a table that is not in memory */
    SHASHKI_E_DIRECTORY = -5,   /* there is no such directory, or it cannot be read */
    SHASHKI_E_NOT_A_TABLE = -6, /* a file with the name of a table is none */
    SHASHKI_E_VERSION = -7,     /* another version of the format, or other draw rules */
    SHASHKI_E_TRUNCATED = -8,   /* a file is shorter or longer than it says */
    SHASHKI_E_HEADER = -9,      /* damage in header, alphabet or frame index */
    SHASHKI_E_FRAME = -10,      /* damage in a frame */
    SHASHKI_E_READ = -11,       /* the system cannot read a file */
    SHASHKI_E_MEMORY = -12,     /* no memory */
    SHASHKI_E_TOO_COMPLEX = -13 /* more captures than are followed; of positions with many pieces only */
};

/* A position: sets of squares, bit 0 = a1, 1 = c1, 2 = e1, 3 = g1, 4 = b2 ... 31 = h8, row by row as White sees
 * them, and whose turn it is. */
typedef struct shashki_position {
    uint32_t white_men;
    uint32_t white_kings;
    uint32_t black_men;
    uint32_t black_kings;
    uint32_t side; /* SHASHKI_WHITE or SHASHKI_BLACK */
} shashki_position;

/* What a position or a move is worth. Each number may be SHASHKI_UNKNOWN, each distance also SHASHKI_NONE. */
typedef struct shashki_value {
    int32_t wdl;
    int32_t dtc;
    int32_t dtw;
    int32_t dtb;
} shashki_value;

/* The most squares a move goes along: its start and a landing for each piece that can be captured. */
#define SHASHKI_MOST_SQUARES 32

/* A legal move with its value for the player who makes it, distances counted from before the move. */
typedef struct shashki_move {
    shashki_position after;
    shashki_value value;
    uint32_t captured;                  /* a set of squares; 0 for a quiet move */
    uint8_t squares;                    /* how many there are in path */
    uint8_t path[SHASHKI_MOST_SQUARES]; /* start, every landing square, end */
    uint8_t king;                       /* whether a king moves */
    uint8_t promotes;                   /* whether a man becomes a king */
    char notation[96];                  /* c3-d4, c3:e5; all squares where start and end do not tell it */
} shashki_move;

/* What has been read since a set was opened. */
typedef struct shashki_counts {
    uint64_t frames; /* read and decoded */
    uint64_t bytes;  /* of these, as they stand in the files */
} shashki_counts;

/* A set of tables. */
typedef struct shashki_tables shashki_tables;

/* The set. */
int shashki_open(const char *directory, size_t cache_bytes, shashki_tables **tables);
void shashki_close(shashki_tables *tables);
int shashki_pieces(const shashki_tables *tables);
const char *shashki_ruleset(const shashki_tables *tables);
int shashki_has_table(const shashki_tables *tables, const char *name);
int shashki_preload(shashki_tables *tables, int pieces, unsigned wanted, size_t *left_out);
void shashki_count(const shashki_tables *tables, shashki_counts *counts);

/* Values of a position. */
int shashki_probe_wdl(shashki_tables *tables, const shashki_position *position, int *wdl);
int shashki_probe_dtc(shashki_tables *tables, const shashki_position *position, int *plies);
int shashki_probe_dtw(shashki_tables *tables, const shashki_position *position, int *plies);
int shashki_probe_dtb(shashki_tables *tables, const shashki_position *position, int *plies);
int shashki_probe_wdl_cached(shashki_tables *tables, const shashki_position *position, int *wdl);
int shashki_probe(shashki_tables *tables, const shashki_position *position, unsigned wanted, int how,
                  shashki_value *value);
int shashki_probe_many(shashki_tables *tables, const shashki_position *positions, size_t count, unsigned wanted,
                       int how, shashki_value *values);

/* Moves of a position, best first. */
int shashki_root(shashki_tables *tables, const shashki_position *position, shashki_move *moves, size_t room,
                 size_t *count);

/* Errors. */
const char *shashki_error_text(int error);
const char *shashki_last_error(void);

#ifdef __cplusplus
}
#endif

#endif
