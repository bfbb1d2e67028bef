/**
 * @file
 * @brief Probe the endgame tables of Russian draughts from C and C++.
 *
 * This header is the reference. docs/probe.md is the guide, docs/format.md describes the table files. The
 * library is C99. Its source needs a compiler with the __atomic builtins (gcc, clang), a POSIX system and
 * libzstd.
 *
 * @code
 *     shashki_tables *tables;
 *     int wdl;
 *     if (shashki_open("data", 64 << 20, &tables) == SHASHKI_OK) {
 *         shashki_position position = {0x00000400, 0, 0, 0x80000000, SHASHKI_WHITE};
 *         if (shashki_probe_wdl(tables, &position, &wdl) != SHASHKI_OK)
 *             puts(shashki_last_error());
 *         shashki_close(tables);
 *     }
 * @endcode
 *
 * These rules hold for every function:
 *
 * - All distances are in plies. All values are for the side to move, with fresh counters of the draw rules.
 * - Every position is answered whose captures end in the tables, with any number of pieces. The library
 *   follows captures itself. A side without pieces or without a move has lost; this needs no table.
 * - Any number of threads may use one set of tables at the same time. Only shashki_close() must be alone.
 * - The library keeps no pointer that the caller passes in. It writes to the caller's memory only during the
 *   call.
 * - A function that fails leaves its results as they were, unless its description says otherwise.
 * - An error sets the text of shashki_last_error() for the calling thread. Success does not reset that text.
 */
#ifndef SHASHKI_PROBE_H
#define SHASHKI_PROBE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Version of this header, as text: the version of the whole project. See shashki_version(). */
#define SHASHKI_VERSION "0.1.0.dev0"

/**
 * Visibility of the public functions. Define it as nothing to keep them out of the symbol table of a shared
 * library that contains this source and is compiled with -fvisibility=hidden.
 */
#ifndef SHASHKI_API
#ifdef __GNUC__
#define SHASHKI_API __attribute__((visibility("default")))
#else
#define SHASHKI_API
#endif
#endif

/** Results of the functions: SHASHKI_OK is 0, all errors are negative. */
enum shashki_error {
    SHASHKI_OK = 0,             /**< success */
    SHASHKI_E_ARGUMENT = -1,    /**< an argument is NULL or not in its range; correct the call */
    SHASHKI_E_POSITION = -2,    /**< the position is not valid; see shashki_position */
    SHASHKI_E_NO_TABLE = -3,    /**< a required table is missing; continue without it, or generate it */
    SHASHKI_E_NOT_CACHED = -4,  /**< a required frame is not in memory; use SHASHKI_READ to read it */
    SHASHKI_E_DIRECTORY = -5,   /**< the directory does not exist or cannot be read */
    SHASHKI_E_NOT_A_TABLE = -6, /**< a file has the name of a table but is not a table; remove it */
    SHASHKI_E_VERSION = -7,     /**< other format version or draw rules, or two rulesets; generate again */
    SHASHKI_E_TRUNCATED = -8,   /**< a file is shorter or longer than its header says; generate it again */
    SHASHKI_E_HEADER = -9,      /**< damage in the header, alphabet or frame index; generate the file again */
    SHASHKI_E_FRAME = -10,      /**< damage in a frame; generate the file again */
    SHASHKI_E_READ = -11,       /**< the system cannot read a file, or it was replaced; see the error text */
    SHASHKI_E_MEMORY = -12,     /**< out of memory */
    SHASHKI_E_TOO_COMPLEX = -13 /**< over 200,000 steps of captures; only with many kings */
};

/** Sides. */
enum shashki_side {
    SHASHKI_WHITE = 0, /**< White */
    SHASHKI_BLACK = 1  /**< Black */
};

/** Outcomes under the draw rules, for the side to move. */
enum shashki_outcome {
    SHASHKI_LOSS = -2,         /**< loss */
    SHASHKI_BLESSED_LOSS = -1, /**< loss without draw rules, draw under them */
    SHASHKI_DRAW = 0,          /**< draw */
    SHASHKI_CURSED_WIN = 1,    /**< win without draw rules, draw under them */
    SHASHKI_WIN = 2            /**< win */
};

/** Numbers that replace a value. SHASHKI_NONE replaces distances only. */
enum shashki_no_value {
    SHASHKI_NONE = -1,     /**< there is no such distance, as for a draw */
    SHASHKI_UNKNOWN = -128 /**< the table is missing, or the distance was not requested */
};

/** Distances that a probe returns besides the outcome. Join them with |, 0 means the outcome alone. */
enum shashki_metric {
    SHASHKI_DTC = 1, /**< plies to the next capture, man move or end of the game */
    SHASHKI_DTW = 2, /**< plies to the end of the game, without draw rules */
    SHASHKI_DTB = 4  /**< plies to the next capture, promotion or end of the game */
};

/** Sources that a probe may read tables from. */
enum shashki_read_mode {
    SHASHKI_READ = 0,  /**< memory first, then the disk */
    SHASHKI_CACHED = 1 /**< memory only; SHASHKI_E_NOT_CACHED if it does not hold the answer */
};

/**
 * A position.
 *
 * The four piece fields are sets of squares: bit 0 = a1, 1 = c1, 2 = e1, 3 = g1, 4 = b2 ... 31 = h8, row by
 * row as White sees the board. A position is valid (else SHASHKI_E_POSITION) if no square holds two pieces,
 * no man stands on the row where it promotes, and `side` is a shashki_side.
 */
typedef struct shashki_position {
    uint32_t white_men;   /**< squares of White's men */
    uint32_t white_kings; /**< squares of White's kings */
    uint32_t black_men;   /**< squares of Black's men */
    uint32_t black_kings; /**< squares of Black's kings */
    uint32_t side;        /**< side to move: SHASHKI_WHITE or SHASHKI_BLACK */
} shashki_position;

/** The value of a position or a move. */
typedef struct shashki_value {
    int32_t wdl; /**< outcome, a shashki_outcome or SHASHKI_UNKNOWN */
    int32_t dtc; /**< DTC in plies, of wins and losses; else SHASHKI_NONE or SHASHKI_UNKNOWN */
    int32_t dtw; /**< DTW in plies, of all outcomes but draws; else SHASHKI_NONE or SHASHKI_UNKNOWN */
    /**
     * DTB in plies, of wins and losses if the rules limit the plies with one material balance: both sides
     * have kings, and the rules have a limit for this number of pieces. Else SHASHKI_NONE or SHASHKI_UNKNOWN.
     */
    int32_t dtb;
} shashki_value;

/** Largest number of squares in the path of a move. */
#define SHASHKI_MAX_PATH 32

/** Size of the notation of a move in bytes, with the closing zero byte. */
#define SHASHKI_NOTATION_SIZE 96

/** A legal move and its value. */
typedef struct shashki_move {
    shashki_position after;         /**< position after the move, the opponent to move */
    shashki_value value;            /**< value for the player who moves; distances start before the move */
    uint32_t captured;              /**< set of squares of the captured pieces; 0 for a quiet move */
    uint8_t path_length;            /**< number of squares in `path` */
    uint8_t path[SHASHKI_MAX_PATH]; /**< squares 0 to 31: start, each landing square, end; the rest is 0 */
    uint8_t king;                   /**< 1 if a king moves, 0 if a man moves */
    uint8_t promotes;               /**< 1 if a man becomes a king, else 0 */
    /** Zero-terminated text: c3-d4, c3:e5; the whole path if several captures share start and end. */
    char notation[SHASHKI_NOTATION_SIZE];
} shashki_move;

/** Counters of a set of tables since shashki_open(). */
typedef struct shashki_stats {
    uint64_t frames_read; /**< frames read from files and decoded */
    uint64_t bytes_read;  /**< size of these frames in the files, in bytes */
} shashki_stats;

/** A set of tables. The library owns its contents. */
typedef struct shashki_tables shashki_tables;

/** @name Version and errors */
/** @{ */

/**
 * Return the version of the compiled library. It differs from SHASHKI_VERSION if the program was compiled
 * with the header of another version.
 *
 * @return Text like "0.1.0". It is static: valid as long as the library is loaded, not to be freed.
 * @par Threads
 * Safe at any time.
 */
SHASHKI_API const char *shashki_version(void);

/**
 * Return a sentence that explains an error code.
 *
 * @param error  result of another function of this library; other numbers have a text too
 * @return Text in English. It is static: valid as long as the library is loaded, not to be freed.
 * @par Threads
 * Safe at any time.
 */
SHASHKI_API const char *shashki_error_text(enum shashki_error error);

/**
 * Return details of the last error of the calling thread: the file, the table and what is wrong.
 *
 * @return Text in English. The library owns it. It is valid until the next error of this thread, or the
 *         thread's end.
 * @par Threads
 * Safe at any time. Each thread has its own text.
 */
SHASHKI_API const char *shashki_last_error(void);

/** @} */
/** @name Sets of tables */
/** @{ */

/**
 * Open the tables in a directory: all files that have the name of a table of up to 10 pieces.
 *
 * Other files are ignored. The call reads the header of each table, to check format version and ruleset. The
 * tables themselves are opened when they are first needed. The set keeps the directory open: it stays the
 * same directory if it is renamed or if the process changes its working directory. Tables added later are not
 * seen.
 *
 * @param directory    path of the directory; an empty directory is no error
 * @param cache_bytes  memory for decoded frames of all tables together, in bytes. 64 << 20 is a good start.
 *                     The cache takes no more than all frames need, however large this is. With
 *                     less than a frame (16 KB in current files) there is no cache, and every probe reads the
 *                     disk.
 * @param[out] tables  the new set, or NULL if the call fails. The caller owns it and closes it with
 *                     shashki_close().
 * @return SHASHKI_OK, SHASHKI_E_ARGUMENT, SHASHKI_E_DIRECTORY, SHASHKI_E_NOT_A_TABLE (a name of a table
 *         belongs to something that is not a file), SHASHKI_E_VERSION, SHASHKI_E_READ or SHASHKI_E_MEMORY
 * @par Threads
 * Safe at any time. All open sets together keep at most half as many files open as the process may open.
 */
SHASHKI_API enum shashki_error shashki_open(const char *directory, size_t cache_bytes,
                                            shashki_tables **tables);

/**
 * Close a set of tables, its files and its directory, and free its memory.
 *
 * @param tables  the set; NULL is allowed. The pointer is not valid after the call.
 * @par Threads
 * No other thread may use the same set during the call or after it.
 */
SHASHKI_API void shashki_close(shashki_tables *tables);

/**
 * Return the largest n such that every material of up to n pieces has an outcome table in the set.
 *
 * The set may have tables of more pieces too.
 *
 * @param tables  the set; NULL is allowed
 * @return The number of pieces, 0 if no such n exists or if `tables` is NULL.
 * @par Threads
 * Safe with other calls on the same set. The number never changes while the set is open.
 */
SHASHKI_API int shashki_pieces(const shashki_tables *tables);

/**
 * Return the name of the draw rules of the tables.
 *
 * @param tables  the set; NULL is allowed
 * @return "official" or "king-moves-only"; "official" if the set has no table, "" if `tables` is NULL. The
 *         text is static: valid as long as the library is loaded, not to be freed.
 * @par Threads
 * Safe with other calls on the same set.
 */
SHASHKI_API const char *shashki_ruleset(const shashki_tables *tables);

/**
 * Return whether the set has the table with a given name. The call does not open the table.
 *
 * @param tables  the set; NULL is allowed
 * @param name    file name such as "KKMvK.wdl"; NULL is allowed
 * @return 1 if the set has this table; else 0.
 * @par Threads
 * Safe with other calls on the same set.
 */
SHASHKI_API int shashki_has_table(const shashki_tables *tables, const char *name);

/**
 * Load tables into the cache.
 *
 * Outcomes come first, then DTC, DTW and DTB; within each, tables of fewer pieces come first. Loading stops
 * when the cache is full. Frames of these tables that are already in the cache stay there; others make room.
 * Other threads that probe at the same time may take a part of the cache.
 *
 * @param tables         the set
 * @param pieces         largest number of pieces of the tables to load
 * @param metrics        distances to load besides outcomes: shashki_metric values joined with |, or 0
 * @param[out] left_out  number of frames that did not fit into the cache; may be NULL
 * @return SHASHKI_OK, SHASHKI_E_ARGUMENT or SHASHKI_E_MEMORY; the errors of a table that cannot be read
 *         (SHASHKI_E_NO_TABLE if its file is gone, SHASHKI_E_NOT_A_TABLE, SHASHKI_E_VERSION,
 *         SHASHKI_E_TRUNCATED, SHASHKI_E_HEADER, SHASHKI_E_FRAME, SHASHKI_E_READ). The tables before such a
 *         table are loaded then.
 * @par Threads
 * Safe with other calls on the same set.
 */
SHASHKI_API enum shashki_error shashki_preload(shashki_tables *tables, int pieces, unsigned metrics,
                                               size_t *left_out);

/**
 * Get the numbers of frames and bytes that the set has read from files since shashki_open().
 *
 * @param tables      the set; NULL gives zeros
 * @param[out] stats  the counters; NULL is allowed
 * @par Threads
 * Safe with other calls on the same set. While others read frames, the two numbers may differ by a few
 * frames.
 */
SHASHKI_API void shashki_get_stats(const shashki_tables *tables, shashki_stats *stats);

/** @} */
/** @name Values of positions */
/** @{ */

/**
 * Get the outcome of a position.
 *
 * @param tables    the set
 * @param position  the position
 * @param[out] wdl  the outcome, a shashki_outcome
 * @return SHASHKI_OK, SHASHKI_E_ARGUMENT, SHASHKI_E_POSITION, SHASHKI_E_NO_TABLE (the error text names a
 *         missing table), SHASHKI_E_MEMORY, SHASHKI_E_TOO_COMPLEX; the errors of a table that cannot be read
 *         (SHASHKI_E_NOT_A_TABLE, SHASHKI_E_VERSION, SHASHKI_E_TRUNCATED, SHASHKI_E_HEADER, SHASHKI_E_FRAME,
 *         SHASHKI_E_READ)
 * @par Threads
 * Safe with other calls on the same set.
 */
SHASHKI_API enum shashki_error shashki_probe_wdl(shashki_tables *tables, const shashki_position *position,
                                                 int *wdl);

/**
 * Get the DTC of a position: plies to the next capture, man move or end of the game, by either side.
 *
 * @param tables      the set
 * @param position    the position
 * @param[out] plies  the distance of a win or a loss; SHASHKI_NONE for other outcomes
 * @return as shashki_probe_wdl(); SHASHKI_E_NO_TABLE also if a table of outcomes exists but one of DTC is
 *         missing
 * @par Threads
 * Safe with other calls on the same set.
 */
SHASHKI_API enum shashki_error shashki_probe_dtc(shashki_tables *tables, const shashki_position *position,
                                                 int *plies);

/**
 * Get the DTW of a position: plies to the end of the game, without draw rules.
 *
 * @param tables      the set
 * @param position    the position
 * @param[out] plies  the distance; SHASHKI_NONE for a draw
 * @return as shashki_probe_wdl(); SHASHKI_E_NO_TABLE also if a table of outcomes exists but one of DTW is
 *         missing
 * @par Threads
 * Safe with other calls on the same set.
 */
SHASHKI_API enum shashki_error shashki_probe_dtw(shashki_tables *tables, const shashki_position *position,
                                                 int *plies);

/**
 * Get the DTB of a position: plies to the next capture, promotion or end of the game.
 *
 * @param tables      the set
 * @param position    the position
 * @param[out] plies  the distance of a win or a loss that has one, see shashki_value::dtb; else SHASHKI_NONE
 * @return as shashki_probe_wdl(); SHASHKI_E_NO_TABLE also if a table of outcomes exists but one of DTB is
 *         missing
 * @par Threads
 * Safe with other calls on the same set.
 */
SHASHKI_API enum shashki_error shashki_probe_dtb(shashki_tables *tables, const shashki_position *position,
                                                 int *plies);

/**
 * Get the outcome of a position from memory alone, for the inner nodes of a search.
 *
 * The call never reads the disk, opens no file and loads nothing into the cache. Other probes and
 * shashki_preload() fill the cache.
 *
 * @param tables    the set
 * @param position  the position
 * @param[out] wdl  the outcome, a shashki_outcome
 * @return SHASHKI_OK, SHASHKI_E_ARGUMENT, SHASHKI_E_POSITION, SHASHKI_E_NO_TABLE, SHASHKI_E_NOT_CACHED,
 *         SHASHKI_E_FRAME, SHASHKI_E_MEMORY or SHASHKI_E_TOO_COMPLEX
 * @par Threads
 * Safe with other calls on the same set.
 */
SHASHKI_API enum shashki_error shashki_probe_wdl_cached(shashki_tables *tables,
                                                        const shashki_position *position, int *wdl);

/**
 * Get the outcome of a position and the requested distances.
 *
 * A distance is SHASHKI_UNKNOWN if its table is missing or if `metrics` does not request it.
 *
 * @param tables      the set
 * @param position    the position
 * @param metrics     shashki_metric values joined with |, or 0 for the outcome alone
 * @param mode        SHASHKI_READ, or SHASHKI_CACHED to use memory alone, as shashki_probe_wdl_cached() does
 * @param[out] value  the value
 * @return as shashki_probe_wdl() with SHASHKI_READ, as shashki_probe_wdl_cached() with SHASHKI_CACHED;
 *         SHASHKI_E_NO_TABLE only if a table of outcomes is missing; SHASHKI_E_HEADER for a damaged distance
 * @par Threads
 * Safe with other calls on the same set.
 */
SHASHKI_API enum shashki_error shashki_probe(shashki_tables *tables, const shashki_position *position,
                                             unsigned metrics, enum shashki_read_mode mode,
                                             shashki_value *value);

/**
 * Get the values of many positions, as shashki_probe() does for one.
 *
 * All fields of a value are SHASHKI_UNKNOWN if shashki_probe() would return SHASHKI_E_NO_TABLE,
 * SHASHKI_E_NOT_CACHED or SHASHKI_E_TOO_COMPLEX for its position. Any other error ends the call: then the
 * values of the positions before the failing one are complete, and the contents of the others are
 * unspecified.
 *
 * @param tables       the set
 * @param positions    array of `count` positions; may be NULL if `count` is 0
 * @param count        number of positions
 * @param metrics      shashki_metric values joined with |, or 0 for outcomes alone
 * @param mode         SHASHKI_READ, or SHASHKI_CACHED to use memory alone
 * @param[out] values  array of `count` values; may be NULL if `count` is 0
 * @return as shashki_probe(), but never SHASHKI_E_NO_TABLE, SHASHKI_E_NOT_CACHED or SHASHKI_E_TOO_COMPLEX
 * @par Threads
 * Safe with other calls on the same set.
 */
SHASHKI_API enum shashki_error shashki_probe_many(shashki_tables *tables, const shashki_position *positions,
                                                  size_t count, unsigned metrics, enum shashki_read_mode mode,
                                                  shashki_value *values);

/** @} */
/** @name Moves */
/** @{ */

/**
 * List the legal moves of a position with their values, best first.
 *
 * The order is: wins by DTC, then DTW, both rising; cursed wins by DTW, rising; draws; blessed losses by DTW,
 * falling; losses by DTC, then DTW, both falling; moves to positions without a table, whose `wdl` is
 * SHASHKI_UNKNOWN. Equal moves are in the order of their notations. A game of first moves therefore ends
 * within the rule on king moves.
 *
 * A move can lead to a loss of the opponent with fresh counters, although the counters of the current
 * position leave too few plies for the win. Such a move is a cursed win, as it is in the tables.
 *
 * @param tables      the set
 * @param position    the position
 * @param[out] moves  array of `capacity` moves; may be NULL if `capacity` is 0. If there are more moves, it
 *                    gets the best ones.
 * @param capacity    number of moves that fit into `moves`. 64 is enough for positions in the tables in
 *                    practice.
 * @param[out] count  number of legal moves, which may exceed `capacity`; 0 if the side to move has lost
 * @return as shashki_probe_wdl(), but never SHASHKI_E_NO_TABLE: the values of such moves are SHASHKI_UNKNOWN
 * @par Threads
 * Safe with other calls on the same set.
 */
SHASHKI_API enum shashki_error shashki_probe_moves(shashki_tables *tables, const shashki_position *position,
                                                   shashki_move *moves, size_t capacity, size_t *count);

/** @} */

#ifdef __cplusplus
}
#endif

#endif
