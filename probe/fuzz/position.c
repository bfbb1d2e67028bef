/* Fuzz positions: every input must give consistent values or an error.
 *
 *     clang -g -O1 -fsanitize=fuzzer,address,undefined probe/fuzz/position.c probe/shashki_probe.c -lzstd \
 *         -o fuzz-position
 *     SHASHKI_DATA=DIR ./fuzz-position corpus -max_len=32
 */
#define _POSIX_C_SOURCE 200809L
#include "../shashki_probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CAPACITY = 64, ALL = SHASHKI_DTC | SHASHKI_DTW | SHASHKI_DTB };

static shashki_tables *tables;

static uint32_t rotate(uint32_t set)
{
    uint32_t found = 0;
    for (int square = 0; square < 32; square++)
        if (set >> square & 1)
            found |= 1u << (31 - square);
    return found;
}

static void require(int condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "%s: %s\n", what, shashki_last_error());
    abort();
}

/* Compare the value of a position with the values of its moves. */
static void compare(const shashki_position *position, const shashki_value *value, enum shashki_error error)
{
    shashki_move moves[CAPACITY];
    size_t count = 0;
    enum shashki_error failed = shashki_probe_moves(tables, position, moves, CAPACITY, &count);
    require(!failed || failed == SHASHKI_E_TOO_COMPLEX, "the moves");
    if (failed || error)
        return;
    if (!count) {
        require(value->wdl == SHASHKI_LOSS && value->dtw == 0, "a position without moves");
        return;
    }
    require(moves[0].value.wdl == value->wdl, "the outcome of the best move");
    if (count > CAPACITY)
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
        require(value->dtw == shortest, "the shortest win");
    if (value->wdl < 0)
        require(value->dtw == longest, "the longest defence");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    shashki_position position = {0, 0, 0, 0, 0};
    shashki_value value, other;
    if (!tables) {
        const char *data_dir = getenv("SHASHKI_DATA");
        require(data_dir && shashki_open(data_dir, 16 << 20, &tables) == SHASHKI_OK,
                "SHASHKI_DATA must name a directory of tables");
    }
    if (size >= sizeof position && size % 2) { /* sets of squares, mostly not valid */
        memcpy(&position, data, sizeof position);
    } else { /* one byte for each piece: its square and its kind */
        uint32_t *sets[4] = {&position.white_men, &position.white_kings, &position.black_men,
                             &position.black_kings};
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
    enum shashki_error error = shashki_probe(tables, &position, ALL, SHASHKI_READ, &value);
    if (error == SHASHKI_E_POSITION)
        return 0;
    require(!error || error == SHASHKI_E_NO_TABLE || error == SHASHKI_E_TOO_COMPLEX, "a probe");
    shashki_position flipped = {rotate(position.black_men), rotate(position.black_kings),
                                rotate(position.white_men), rotate(position.white_kings), 1 - position.side};
    enum shashki_error other_error = shashki_probe(tables, &flipped, ALL, SHASHKI_CACHED, &other);
    require(other_error == error || other_error == SHASHKI_E_NOT_CACHED || error,
            "the error of the rotated board");
    if (!error && !other_error)
        require(memcmp(&value, &other, sizeof value) == 0, "the value of the rotated board");
    compare(&position, &value, error);
    return 0;
}
