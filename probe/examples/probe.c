/* Print the values of a position and of its moves.
 *
 *     cc -O2 -Iprobe probe/examples/probe.c probe/shashki_probe.c -lzstd -o probe-example
 *     ./probe-example data W:WKc1,Kd2,Ka3:BKe1
 */
#include "shashki_probe.h"

#include <stdio.h>
#include <string.h>

/* Return the set of the square with this name; 0 if there is no such square. */
static uint32_t square(const char *name)
{
    int column = name[0] - 'a', row = name[0] ? name[1] - '1' : -1;
    if (column < 0 || column > 7 || row < 0 || row > 7 || (row + column) % 2)
        return 0;
    return (uint32_t)1 << (4 * row + column / 2);
}

/* Read a FEN whose squares have names like a1; return 0 if it is not valid. */
static int read_fen(const char *fen, shashki_position *position)
{
    uint32_t *sets = NULL;
    memset(position, 0, sizeof *position);
    if (strncmp(fen, "W:", 2) != 0 && strncmp(fen, "B:", 2) != 0)
        return 0;
    position->side = fen[0] == 'W' ? SHASHKI_WHITE : SHASHKI_BLACK;
    for (fen += 2; *fen; fen++) {
        if (*fen == 'W') {
            sets = &position->white_men;
        } else if (*fen == 'B') {
            sets = &position->black_men;
        } else if (*fen != ':' && *fen != ',') {
            int king = *fen == 'K';
            uint32_t bit = sets ? square(fen + king) : 0;
            if (!bit)
                return 0;
            sets[king] |= bit; /* the field of the kings follows that of the men */
            fen += 1 + king;
        }
    }
    return 1;
}

static const char *outcome(int wdl)
{
    static const char *const NAMES[] = {"loss", "blessed loss", "draw", "cursed win", "win"};
    return wdl == SHASHKI_UNKNOWN ? "unknown" : NAMES[wdl + 2];
}

static void print_plies(const char *name, int plies)
{
    if (plies >= 0)
        printf("  %s %d", name, plies);
}

static void print_value(const char *what, const shashki_value *value)
{
    printf("%-12s %-12s", what, outcome(value->wdl));
    print_plies("DTC", value->dtc);
    print_plies("DTW", value->dtw);
    print_plies("DTB", value->dtb);
    printf("\n");
}

int main(int count, char **arguments)
{
    shashki_tables *tables;
    shashki_position position;
    shashki_value value;
    static shashki_move moves[256];
    size_t found;
    if (count != 3 || !read_fen(arguments[2], &position)) {
        fprintf(stderr, "usage: %s DIR FEN, e.g. data W:WKc1,Kd2,Ka3:BKe1\n", arguments[0]);
        return 2;
    }
    if (shashki_open(arguments[1], 64 << 20, &tables)) {
        fprintf(stderr, "%s\n", shashki_last_error());
        return 1;
    }
    enum shashki_error error =
        shashki_probe(tables, &position, SHASHKI_DTC | SHASHKI_DTW | SHASHKI_DTB, SHASHKI_READ, &value);
    if (!error)
        error = shashki_probe_moves(tables, &position, moves, 256, &found);
    if (error) {
        fprintf(stderr, "%s\n", shashki_last_error());
    } else {
        printf("tables of up to %d pieces, %s rules; distances in plies\n", shashki_pieces(tables),
               shashki_ruleset(tables));
        print_value("position", &value);
        for (size_t i = 0; i < found && i < 256; i++)
            print_value(moves[i].notation, &moves[i].value);
    }
    shashki_close(tables);
    return error ? 1 : 0;
}
