/* A fuzzer of positions: whatever stands on the board, it is answered with values that agree, or with an error.
 *
 *     clang -g -O1 -fsanitize=fuzzer,address,undefined probe/fuzz/position.c probe/shashki_probe.c -lzstd -o fuzz-position
 *     SHASHKI_DATA=DIR ./fuzz-position corpus -max_len=32
 */
#define _POSIX_C_SOURCE 200809L
#include "../shashki_probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 64, ALL = SHASHKI_DTC | SHASHKI_DTW | SHASHKI_DTB };

static shashki_tables *tables;

static uint32_t turned(uint32_t set)
{
    uint32_t found = 0;
    for (int square = 0; square < 32; square++)
        if (set >> square & 1)
            found |= 1u << (31 - square);
    return found;
}

static void hold(int condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "%s: %s\n", what, shashki_last_error());
    abort();
}

/* What the moves are worth makes what the position is worth. */
static void compare(const shashki_position *position, const shashki_value *value, int error)
{
    shashki_move moves[ROOM];
    size_t count = 0;
    int failed = shashki_root(tables, position, moves, ROOM, &count);
    hold(!failed || failed == SHASHKI_E_TOO_COMPLEX, "a root");
    if (failed || error)
        return;
    if (!count) {
        hold(value->wdl == SHASHKI_LOSS && value->dtw == 0, "no move");
        return;
    }
    hold(moves[0].value.wdl == value->wdl, "the outcome of the best move");
    if (count > ROOM)
        return;
    int shortest = 0, longest = 0;
    for (size_t i = 0; i < count; i++) {
        const shashki_value *own = &moves[i].value;
        if (own->wdl > 0 && (!shortest || own->dtw < shortest))
            shortest = own->dtw;
        if (own->dtw > longest)
            longest = own->dtw;
    }
    if (value->wdl > 0)
        hold(value->dtw == shortest, "the shortest win");
    if (value->wdl < 0)
        hold(value->dtw == longest, "the longest defence");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    shashki_position position = {0, 0, 0, 0, 0};
    shashki_value value, other;
    if (!tables) {
        const char *where = getenv("SHASHKI_DATA");
        hold(where && shashki_open(where, 16 << 20, &tables) == SHASHKI_OK, "SHASHKI_DATA is to name tables");
    }
    if (size >= sizeof position && size % 2) { /* sets as they are, mostly none that can stand so */
        memcpy(&position, data, sizeof position);
    } else { /* a byte a piece: square, and which piece */
        uint32_t *sets[4] = {&position.white_men, &position.white_kings, &position.black_men, &position.black_kings};
        uint32_t taken = 0;
        for (size_t i = 0; i < size; i++) {
            uint32_t square = 1u << data[i] % 32;
            unsigned kind = data[i] / 32 % 4;
            if ((kind == 0 && square & 0xF0000000u) || (kind == 2 && square & 0x0000000Fu))
                kind++;
            if (!(taken & square))
                *sets[kind] |= square;
            taken |= square;
            position.side = data[i] >> 7;
        }
    }
    int error = shashki_probe(tables, &position, ALL, SHASHKI_READ, &value);
    if (error == SHASHKI_E_POSITION)
        return 0;
    hold(!error || error == SHASHKI_E_NO_TABLE || error == SHASHKI_E_TOO_COMPLEX, "a probe");
    shashki_position flipped = {turned(position.black_men), turned(position.black_kings), turned(position.white_men),
                                turned(position.white_kings), 1 - position.side};
    int same = shashki_probe(tables, &flipped, ALL, SHASHKI_CACHED, &other);
    hold(same == error || same == SHASHKI_E_NOT_CACHED || error, "the board turned");
    if (!error && !same)
        hold(memcmp(&value, &other, sizeof value) == 0, "the value of the board turned");
    compare(&position, &value, error);
    return 0;
}
