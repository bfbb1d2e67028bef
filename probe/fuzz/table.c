/* Fuzz table files: every input must give values or an error.
 *
 *     clang -g -O1 -fsanitize=fuzzer,address,undefined probe/fuzz/table.c probe/shashki_probe.c -lzstd \
 *         -o fuzz-table
 *     mkdir corpus && cp DIR/{KvK,KMvK,KKvM,MvMM}.* corpus    # tables to start from
 *     ./fuzz-table corpus -max_len=65536
 *
 * The file gets the name of the table that its header names. Seven of eight inputs get correct checksums of
 * the header, because a fuzzer does not find them. The file is in a new directory in TMPDIR.
 */
#define _POSIX_C_SOURCE 200809L
#include "../shashki_probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HEADER = 128, MAX_PIECES = 10, ALL = SHASHKI_DTC | SHASHKI_DTW | SHASHKI_DTB };

static char folder[512];

static uint32_t crc32(const uint8_t *bytes, size_t length)
{
    uint32_t crc = ~0u;
    for (size_t i = 0; i < length; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
    }
    return ~crc;
}

static uint32_t u32(const uint8_t *at) { return at[0] | at[1] << 8 | at[2] << 16 | (uint32_t)at[3] << 24; }

static void put(uint8_t *at, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)(value >> 8 * i);
}

static void reseal(uint8_t *data, size_t size)
{
    uint64_t body = (2 * (uint64_t)u32(data + 84) + 7) / 8 * 8 + 8 * (uint64_t)u32(data + 80);
    if (body <= size - HEADER)
        put(data + 120, crc32(data + HEADER, (size_t)body));
    put(data + 124, crc32(data, 124));
}

/* Write the name of the table that a header names; return 0 if there is no such table. */
static int write_table_name(const uint8_t *data, char *name)
{
    unsigned pieces = data[12] + data[13] + data[14] + data[15];
    static const char *const METRICS[] = {"wdl", "dtc", "dtw", "dtb"};
    int known = 0;
    for (int i = 0; i < 4; i++)
        known |= memcmp(data + 16, METRICS[i], 3) == 0;
    if (!known || pieces > MAX_PIECES || !(data[12] + data[13]) || !(data[14] + data[15]))
        return 0;
    char *at = name;
    for (int side = 0; side < 2; side++) {
        for (int i = 0; i < data[12 + 2 * side]; i++)
            *at++ = 'K';
        for (int i = 0; i < data[13 + 2 * side]; i++)
            *at++ = 'M';
        *at++ = side ? '.' : 'v';
    }
    memcpy(at, data + 16, 3);
    at[3] = '\0';
    return 1;
}

static uint32_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

static shashki_position random_position(const uint8_t *material, uint64_t *seed)
{
    uint32_t sets[4] = {0, 0, 0, 0}, taken = 0;
    for (int kind = 0; kind < 4; kind++) { /* white kings, white men, black kings, black men */
        uint32_t forbidden = kind == 1 ? 0xF0000000u : kind == 3 ? 0x0000000Fu : 0;
        for (int i = 0; i < material[kind];) {
            uint32_t square = 1u << next_random(seed) % 32;
            if (square & (taken | forbidden))
                continue;
            taken |= square;
            sets[kind] |= square;
            i++;
        }
    }
    shashki_position position = {sets[1], sets[0], sets[3], sets[2], SHASHKI_WHITE};
    return position;
}

static void probe_all(shashki_tables *tables, const uint8_t *material, size_t size)
{
    uint64_t seed = size;
    size_t left_out, count;
    shashki_move moves[4];
    shashki_value values[32];
    shashki_position positions[32];
    for (int i = 0; i < 32; i++)
        positions[i] = random_position(material, &seed);
    if (size % 2)
        shashki_preload(tables, MAX_PIECES, ALL, &left_out);
    shashki_probe_many(tables, positions, 32, ALL, SHASHKI_READ, values);
    for (int i = 0; i < 32; i++) {
        shashki_value value;
        if (shashki_probe(tables, &positions[i], ALL, SHASHKI_READ, &value) == SHASHKI_OK &&
            (value.wdl < SHASHKI_LOSS || value.wdl > SHASHKI_WIN))
            abort();
        shashki_probe_wdl_cached(tables, &positions[i], &value.wdl);
    }
    shashki_probe_moves(tables, positions, moves, 4, &count);
}

int LLVMFuzzerTestOneInput(const uint8_t *given, size_t size)
{
    char path[600], name[32];
    shashki_tables *tables;
    if (!folder[0]) {
        const char *temporary = getenv("TMPDIR");
        snprintf(folder, sizeof folder, "%s/fuzz-XXXXXX", temporary ? temporary : "/tmp");
        if (!mkdtemp(folder))
            abort();
    }
    if (size < HEADER)
        return 0;
    uint8_t *data = malloc(size);
    memcpy(data, given, size);
    if (!write_table_name(data, name)) {
        free(data);
        return 0;
    }
    if (size % 8)
        reseal(data, size);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(data, 1, size, file) != size || fclose(file))
        abort();
    if (shashki_open(folder, size % 3 ? 1 << 18 : 0, &tables) == SHASHKI_OK) {
        probe_all(tables, data + 12, size);
        shashki_close(tables);
    }
    unlink(path);
    free(data);
    return 0;
}
