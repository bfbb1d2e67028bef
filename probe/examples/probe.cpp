// Several threads of a search probe one set of tables: first memory alone, then the disk as well.
//
//     c++ -std=c++11 -O2 -Iprobe -c probe/examples/probe.cpp
//     cc -O2 -Iprobe -c probe/shashki_probe.c
//     c++ probe.o shashki_probe.o -lzstd -lpthread -o probe-example
//     ./probe-example data
#include "shashki_probe.h"

#include <atomic>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

struct Closer {
    void operator()(shashki_tables *tables) const { shashki_close(tables); }
};
using Tables = std::unique_ptr<shashki_tables, Closer>;

static void check(shashki_error error)
{
    if (error != SHASHKI_OK)
        throw std::runtime_error(shashki_last_error());
}

static Tables open_tables(const std::string &folder, std::size_t cache_bytes)
{
    shashki_tables *tables = nullptr;
    check(shashki_open(folder.c_str(), cache_bytes, &tables));
    return Tables(tables);
}

int main(int count, char **arguments)
{
    if (count != 2) {
        std::fprintf(stderr, "usage: %s DIR\n", arguments[0]);
        return 2;
    }
    try {
        Tables tables = open_tables(arguments[1], 16 << 20);
        if (shashki_pieces(tables.get()) < 3)
            throw std::runtime_error("this example needs tables of 3 pieces or more");

        // Two white kings on every pair of squares against a black king on h8, Black to move.
        std::atomic<long> lost(0), unknown(0);
        auto search = [&](int first, int step) {
            for (int a = first; a < 31; a += step)
                for (int b = a + 1; b < 31; b++) {
                    shashki_position position = {0, 1u << a | 1u << b, 0, 1u << 31, SHASHKI_BLACK};
                    int wdl;
                    if (shashki_probe_wdl_cached(tables.get(), &position, &wdl) == SHASHKI_E_NOT_CACHED)
                        ++unknown; // an engine would search on; this example reads the disk
                    if (shashki_probe_wdl(tables.get(), &position, &wdl) == SHASHKI_OK && wdl == SHASHKI_LOSS)
                        ++lost;
                }
        };
        std::vector<std::thread> threads;
        for (int i = 0; i < 4; i++)
            threads.emplace_back(search, i, 4);
        for (std::thread &thread : threads)
            thread.join();
        std::printf("Black has lost %ld of 465 positions\n", lost.load());

        // W:WKc1,Kd2:BKe1
        shashki_position root = {0, 1u << 1 | 1u << 5, 0, 1u << 2, SHASHKI_WHITE};
        std::vector<shashki_move> moves(128);
        std::size_t found = 0;
        check(shashki_probe_moves(tables.get(), &root, moves.data(), moves.size(), &found));
        if (found)
            std::printf("best of %zu moves: %s, outcome %d\n", found, moves[0].notation,
                        (int)moves[0].value.wdl);
    } catch (const std::exception &error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}
